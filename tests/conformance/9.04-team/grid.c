/* 9.4.7: split_2d with every xrange: coordinates, sizes with an incomplete last row, an xrange larger than the team;
 * rows and columns of a grid of a grid; an invalid parent.
 * pes: 1 2 3 4 7 16
 * needs: shmem_team_split_2d shmem_team_destroy shmem_team_translate_pe shmem_team_sync
 */
#include "check.h"

static void try_grid(shmem_team_t parent, int xrange) {
    int n = shmem_team_n_pes(parent), number = shmem_team_my_pe(parent);
    int width = xrange > n ? n : xrange, height = (n + width - 1) / width;
    int x = number % width, y = number / width;
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmem_team_split_2d(parent, xrange, NULL, 0, &row, NULL, 0, &column), 0);
    CHECK(row != SHMEM_TEAM_INVALID && column != SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_my_pe(row), x);
    CHECK_EQ(shmem_team_my_pe(column), y);
    CHECK_EQ(shmem_team_n_pes(row), y == height - 1 ? n - y * width : width);
    int full = height - 1, rest = n - full * width;
    CHECK_EQ(shmem_team_n_pes(column), x < rest ? height : full);
    for (int k = 0; k < shmem_team_n_pes(row); k++) CHECK_EQ(shmem_team_translate_pe(row, k, parent), y * width + k);
    for (int k = 0; k < shmem_team_n_pes(column); k++) CHECK_EQ(shmem_team_translate_pe(column, k, parent),
                                                                k * width + x);
    CHECK_EQ(shmem_team_sync(row), 0);
    CHECK_EQ(shmem_team_sync(column), 0);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
}

int main(void) {
    begin();
    for (int xrange = 1; xrange <= npes + 3; xrange++) try_grid(SHMEM_TEAM_WORLD, xrange);
    shmem_team_t row, column;
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, NULL, 0, &row, NULL, 0, &column), 0);
    for (int xrange = 1; xrange <= 3; xrange++) {
        try_grid(row, xrange);
        try_grid(column, xrange);
    }
    shmem_team_destroy(row);
    shmem_team_destroy(column);
    row = column = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &row, NULL, 0, &column) != 0);
    CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
    return end();
}

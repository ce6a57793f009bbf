/* A process with no library at all: what starting and ending one costs. */
int main(void)
{
    return 0;
}

/*
 * A runtime for remote procedure calls, as clients build one on GASNet-EX: small calls travel in the messages, half of
 * them written in place; large ones lie in the caller's segment until their target has got them. Functions run in the
 * client's own queue, never in handlers. Besides, what such runtimes keep: a second endpoint with a segment of its own,
 * counters behind an atomics domain that are named by rank in the job, a team of every second rank.
 */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "job.h"

namespace {
enum { id_eager = 248, id_fetch, id_free };
constexpr size_t heap_bytes = 1 << 20, most = 20000;

char *heap;
size_t eager_most;
gex_HSL_t lock = GEX_HSL_INITIALIZER;
std::deque<std::function<void()>> queue;
struct transfer {
    gex_Event_t event;
    std::function<void()> then;
};
std::vector<transfer> transfers;
std::map<size_t, size_t> blocks; /* of the heap, in use: where and how large */
int64_t ran, freed, lent;

void enqueue(std::function<void()> what)
{
    gex_HSL_Lock(&lock);
    queue.push_back(std::move(what));
    gex_HSL_Unlock(&lock);
}

char *lend(size_t bytes)
{
    size_t at = 0;
    for (const auto &block : blocks) {
        if (block.first - at >= bytes)
            break;
        at = block.first + block.second;
    }
    if (at + bytes > heap_bytes)
        return nullptr;
    blocks[at] = bytes;
    lent++;
    return heap + at;
}

/* A call: the function, as its distance from one that every process has, and numbers that it is given. */
using function = void (*)(const uint32_t *numbers, size_t count);
void anchor(const uint32_t *, size_t) {}

std::vector<uint32_t> packed(function f, std::vector<uint32_t> numbers)
{
    int64_t distance = (int64_t)((intptr_t)f - (intptr_t)anchor);
    numbers.insert(numbers.begin(), {(uint32_t)distance, (uint32_t)(distance >> 32)});
    return numbers;
}

void run(const std::vector<uint32_t> &call)
{
    int64_t distance = (int64_t)((uint64_t)call[0] | (uint64_t)call[1] << 32);
    ((function)((intptr_t)anchor + distance))(call.data() + 2, call.size() - 2);
    ran++;
}

void eager(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t count)
{
    gex_Token_Info_t info;
    CHECK(gex_Token_Info(token, &info, GEX_TI_SRCRANK) & GEX_TI_SRCRANK);
    CHECK(info.gex_srcrank < size && (size_t)count * sizeof(uint32_t) == bytes);
    std::vector<uint32_t> call((uint32_t *)data, (uint32_t *)data + count);
    /* What handlers may ask: where a peer's segment is, if that is known. */
    void *there;
    uintptr_t length;
    if (gex_EP_QueryBoundSegmentNB(world, info.gex_srcrank, &there, nullptr, &length, GEX_FLAG_IMMEDIATE) !=
        GEX_EVENT_NO_OP)
        CHECK(length == heap_bytes);
    enqueue([call = std::move(call)] { run(call); });
}

void fetch(gex_Token_t token, gex_AM_Arg_t offset, gex_AM_Arg_t bytes)
{
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_SRCRANK);
    gex_Rank_t owner = info.gex_srcrank;
    enqueue([=] {
        auto *call = new std::vector<uint32_t>((size_t)bytes / sizeof(uint32_t));
        char *from = segment_of(owner) + offset;
        gex_Event_t event = gex_RMA_GetNB(world, call->data(), owner, from, (size_t)bytes, 0);
        transfers.push_back({event, [=] {
            run(*call);
            delete call;
            gex_AM_RequestShort1(world, owner, id_free, 0, offset);
        }});
    });
}

void give_back(gex_Token_t, gex_AM_Arg_t offset)
{
    enqueue([=] {
        CHECK(blocks.erase((size_t)offset) == 1);
        freed++;
    });
}

void progress()
{
    gasnet_AMPoll();
    for (;;) {
        gex_HSL_Lock(&lock);
        std::function<void()> next;
        if (!queue.empty()) {
            next = std::move(queue.front());
            queue.pop_front();
        }
        gex_HSL_Unlock(&lock);
        if (!next)
            break;
        next();
    }
    for (size_t i = 0; i < transfers.size();) {
        if (gex_Event_Test(transfers[i].event) != GASNET_OK) {
            i++;
            continue;
        }
        auto then = std::move(transfers[i].then);
        transfers.erase(transfers.begin() + (std::ptrdiff_t)i);
        then();
    }
}

void call(gex_Rank_t peer, function f, std::vector<uint32_t> numbers, bool in_place)
{
    std::vector<uint32_t> call = packed(f, std::move(numbers));
    size_t bytes = call.size() * sizeof(uint32_t);
    if (bytes > eager_most) {
        char *block;
        while ((block = lend(bytes)) == nullptr)
            progress();
        memcpy(block, call.data(), bytes);
        gex_AM_RequestShort2(world, peer, id_fetch, 0, (gex_AM_Arg_t)(block - heap), (gex_AM_Arg_t)bytes);
    } else if (in_place) {
        gex_AM_SrcDesc_t there = gex_AM_PrepareRequestMedium(world, peer, nullptr, bytes, bytes, nullptr, 0, 1);
        CHECK(there != GEX_AM_SRCDESC_NO_OP && gex_AM_SrcDescSize(there) >= bytes);
        memcpy(gex_AM_SrcDescAddr(there), call.data(), bytes);
        gex_AM_CommitRequestMedium1(there, id_eager, bytes, (gex_AM_Arg_t)call.size());
    } else {
        gex_AM_RequestMedium1(world, peer, id_eager, call.data(), bytes, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)call.size());
    }
}

uint64_t sum_of_calls, sum_of_answers;

void answered(const uint32_t *numbers, size_t count)
{
    CHECK(count == 2);
    sum_of_answers += (uint64_t)numbers[0] | (uint64_t)numbers[1] << 32;
}

/* The first number is the caller's rank; the rest is added up, and the caller is told. */
void add_up(const uint32_t *numbers, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 1; i < count; i++)
        sum += numbers[i];
    call(numbers[0], answered, {(uint32_t)sum, (uint32_t)(sum >> 32)}, count % 2);
}

uint32_t next_random()
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* All calls are answered when as many ran as were made, on all ranks together. */
void calls()
{
    int64_t made = 0;
    for (int i = 0; i < 300; i++) {
        size_t length = i % 10 == 0 ? next_random() % most : next_random() % 100;
        std::vector<uint32_t> numbers(length + 1);
        numbers[0] = me;
        for (size_t k = 1; k <= length; k++)
            sum_of_calls += numbers[k] = next_random();
        call((me + next_random()) % size, add_up, numbers, i % 2);
        made += 2;
        progress();
    }
    int64_t open;
    do {
        open = made - ran + lent - freed;
        gex_Event_t event = gex_Coll_ReduceToAllNB(world, &open, &open, GEX_DT_I64, sizeof open, 1, GEX_OP_ADD, nullptr,
                                                   nullptr, 0);
        while (gex_Event_Test(event) != GASNET_OK)
            progress();
    } while (open != 0);
    CHECK(sum_of_answers == sum_of_calls && blocks.empty() && transfers.empty());
}

/* A second endpoint with its own segment, reached by pairs; local completion as a leaf. */
void second_endpoint()
{
    gex_EP_t other;
    gex_Segment_t memory;
    CHECK(gex_EP_Create(&other, client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    CHECK(gex_Segment_Create(&memory, client, nullptr, 64 << 10, GEX_MK_HOST, 0) == GASNET_OK);
    CHECK(gex_EP_BindSegment(other, memory, 0) == GASNET_OK);
    CHECK(gex_EP_PublishBoundSegment(world, &other, 1, 0) == GASNET_OK);
    barrier();
    gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(other));
    gex_Rank_t next = (me + 1) % size;
    void *there;
    uintptr_t bytes;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, next, &there, nullptr, &bytes, 0));
    CHECK(bytes == 64 << 10);
    std::vector<uint32_t> numbers(5000, me + 1), back(5000);
    gex_Event_t leaf = GEX_EVENT_INVALID;
    gex_Event_t root = gex_RMA_PutNB(pair, next, there, numbers.data(), numbers.size() * 4, &leaf, 0);
    gex_Event_Wait(leaf);
    numbers.assign(numbers.size(), 0);
    gex_Event_Wait(root);
    barrier();
    auto *mine = (const uint32_t *)gex_Segment_QueryAddr(memory);
    for (size_t i = 0; i < back.size(); i++)
        CHECK(mine[i] == (me + size - 1) % size + 1);
    gex_Event_Wait(gex_RMA_GetNB(pair, back.data(), next, there, back.size() * 4, 0));
    CHECK(back.front() == me + 1 && back.back() == me + 1);
}

/* Counters that a domain of every second rank owns, named by rank in the team and in the job. */
void counters()
{
    gex_TM_t team;
    gex_TM_Split(&team, world, (int)(me % 2), (int)me, nullptr, 0, 0);
    gex_Rank_t mine = gex_TM_QueryRank(team), count = gex_TM_QuerySize(team);
    CHECK(count == (size + 1 - me % 2) / 2 && gex_TM_TranslateRankToJobrank(team, mine) == me);
    CHECK(gex_TM_TranslateJobrankToRank(team, me) == mine);
    gex_AD_t domain;
    gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_FCAS | GEX_OP_GET, 0);
    memset(heap, 0, 64);
    barrier();
    gex_Rank_t first = gex_TM_TranslateRankToJobrank(team, 0);
    char *there = segment_of(first);
    uint64_t before, least = 0;
    for (int i = 0; i < 100; i++) {
        bool by_job = i % 2;
        gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, by_job ? first : 0, there, GEX_OP_FADD, 3, 0,
                                       by_job ? GEX_FLAG_RANK_IS_JOBRANK : 0));
        CHECK(before >= least && before % 3 == 0);
        least = before + 3;
        CHECK(gex_AD_OpNBI_U64(domain, nullptr, 0, there + 8, GEX_OP_ADD, 5, 0, 0) == 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (mine == 0)
        CHECK(*(uint64_t *)heap == 300 * (uint64_t)count && *(uint64_t *)(heap + 8) == 500 * (uint64_t)count);
    gex_AD_Destroy(domain);
    gex_TM_Destroy(team, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}
} // namespace

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {id_eager, (gex_AM_Fn_t)eager, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "eager"},
        {id_fetch, (gex_AM_Fn_t)fetch, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, nullptr, "fetch"},
        {id_free, (gex_AM_Fn_t)give_back, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "give back"},
    };
    begin(argc, argv, table, 3, heap_bytes / GASNET_PAGESIZE);
    heap = segment_of(me);
    eager_most = std::min<size_t>(
        gex_AM_MaxRequestMedium(world, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 1),
        gex_AM_MaxRequestMedium(world, GEX_RANK_INVALID, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 1));
    calls();
    barrier();
    second_endpoint();
    counters();
    return finish();
}

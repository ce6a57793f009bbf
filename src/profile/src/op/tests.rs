use super::*;

#[test]
fn class_numbers_match_their_order() {
    for (number, class) in Class::ALL.into_iter().enumerate() {
        assert_eq!(class as usize, number, "{}", class.name());
        assert_eq!(Class::from_number(number as u8), Some(class));
    }
    assert_eq!(Class::from_number(19), None);
}

#[test]
fn traits_follow_rows_and_classes() {
    let of = |name| recorded(find(name).unwrap());
    assert_eq!(of("shmem_putmem"), TRANSFER | STORES);
    assert_eq!(of("shmem_getmem_nbi"), TRANSFER | (1 << TRANSFER_SHIFT) | NONBLOCKING);
    assert_eq!(of("shmem_long_atomic_inc"), TRANSFER | (2 << TRANSFER_SHIFT) | ONE_ELEMENT | STORES);
    assert_eq!(of("shmem_ctx_quiet"), COMPLETES | ON_CONTEXT);
    assert_eq!((of("shmem_ctx_long_p"), of("shmem_ctx_create")), (TRANSFER | ON_CONTEXT | ONE_ELEMENT | STORES, 0));
    assert_eq!(of("shmem_barrier_all"), COMPLETES | TOGETHER | TIMED_IF_WAITS);
    assert_eq!(of("shmem_putmem_signal"), TRANSFER | STORES | SIGNALS);
    assert_eq!((of("shmem_signal_fetch"), of("shmem_long_atomic_fetch") & STORES), (TRANSFER, 0));
    let wait = WAITS | TIMED_IF_WAITS | FOR_OTHERS;
    assert_eq!((of("shmem_long_atomic_fetch_add") & STORES, of("shmem_int_wait_until")), (STORES, wait));
    assert_eq!((of("shmem_set_lock"), of("shmem_clear_lock")), (WAITS | FOR_OTHERS, FOR_OTHERS));
    let meets = TOGETHER | TIMED_IF_WAITS;
    assert_eq!((of("shmem_sync_all"), of("shmem_fence"), of("shmem_malloc")), (meets, 0, TOGETHER | ALLOCATES));
    let makes = ["shmem_team_split_strided", "shmem_team_destroy", "shmemx_team_split_aset", "shmemx_team_shrink"];
    assert_eq!((makes.map(of), of("shmemx_create_strided_aset")), ([TOGETHER; 4], 0));
    assert_eq!((of("shmemx_file_write_at_all"), of("shmemx_file_write_at")), (TOGETHER, 0));
    assert_eq!((has("shmemx_req_wait", BY_REQUEST), has("shmemx_file_read_at_all_nb", BY_REQUEST)), (false, true));
    assert_eq!((of("shmemx_barrier_aset") & COMPLETES, of("shmemx_sync_aset") & COMPLETES), (COMPLETES, 0));
}

/// Rows of extensions say the same as those of the specification, which names follow: nobody looks at names.
#[test]
fn routines_of_one_kind_have_the_traits_of_their_kind() {
    for (id, op) in (0..COUNT as u16).zip(OPS) {
        let (name, traits) = (op.name(), traits(id));
        let orders = matches!(op.class, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order);
        assert_eq!(traits & ON_CONTEXT != 0, orders && name.contains("_ctx_"), "{name}");
        assert_eq!(traits & NONBLOCKING != 0, name.ends_with("_nbi"), "{name}");
        assert_eq!(traits & BY_REQUEST != 0, name.ends_with("_nb"), "{name}");
        let changes = matches!(op.class, Class::Put | Class::Amo | Class::Signal);
        let reads = ["_fetch", "_fetch_nbi"].iter().any(|end| name.ends_with(end));
        assert_eq!(traits & STORES != 0, changes && !reads, "{name}");
        assert_eq!(
            traits & PUTS != 0,
            op.class == Class::Put || name.contains("_put") && op.class == Class::Signal,
            "{name}"
        );
        assert_eq!(traits & SWAPS != 0, name.contains("swap"), "{name}");
        let strided = ["_iput", "_iget", "_ibput", "_ibget"].iter().any(|part| name.contains(part));
        assert_eq!(traits & STRIDED != 0, strided, "{name}");
        assert_eq!(traits & OF_BLOCKS != 0, strided && name.contains("_ib"), "{name}");
        let awaits = op.class == Class::Wait && name.starts_with("shmemx_");
        assert_eq!(traits & AWAITS_REQUEST != 0, awaits, "{name}");
        assert_eq!(traits & INITIALIZES != 0, name.contains("init") && op.class == Class::Setup || name == "start_pes");
        let asks = op.class == Class::Test || name == "shmem_test_lock";
        assert_eq!(traits & ASKS != 0, asks, "{name}");
        let of_all = op.class == Class::Memory && !name.contains("space") || name.ends_with("_barrier_all");
        assert_eq!(traits & OF_ALL != 0, of_all || name.ends_with("_sync_all"), "{name}");
        assert_eq!(recorded(id), traits & 0xffff, "{name}");
    }
}

#[test]
fn bytes_follow_from_calls_where_each_moves_one_element() {
    let of = |name| bytes_of_calls(find(name).unwrap(), 3);
    assert_eq!((of("shmem_long_p"), of("shmem_float_g"), of("shmem_ctx_int32_atomic_add")), (24, 12, 12));
    assert_eq!((of("shmem_long_put"), of("shmem_quiet"), of("shmem_long_test")), (0, 0, 0));
    let is_one = |op: &(u16, &Op)| traits(op.0) & ONE_ELEMENT != 0;
    assert!((0..).zip(ALL.iter()).filter(is_one).all(|(_, op)| op.elem > 0));
}

#[test]
fn names_are_unique_and_found() {
    for (id, op) in ALL.iter().enumerate() {
        assert_eq!(find(op.name()), Some(id as u16), "{} is in the table twice", op.name());
    }
    assert_eq!(find("shmem_no_such_routine"), None);
    assert!(get(TOTAL as u16).is_none());
}

//! Making and ending teams.

use crate::job::{Shape, run};
use crate::sequence::Known;
use pellucid_core::collectives;
use pellucid_core::team::{self, Handle};

#[test]
fn ids_are_given_back() {
    run(&Shape::new(&[0, 2, 3], 6), |pe| {
        let world = Known::world(pe);
        for round in 0..60 {
            let first = world.split(pe, 0, 2, 3);
            let second = world.split(pe, 5, -1, 1 + round % 6);
            if let Some(team) = &second {
                assert_eq!(collectives::team_sync(pe.w, team.handle).unwrap(), 0);
            }
            for team in [first, second].into_iter().flatten() {
                team::destroy(pe.w, team.handle).unwrap();
            }
        }
        assert_eq!(pe.w.world.mine().ids[0].load(std::sync::atomic::Ordering::Relaxed), team::ALWAYS);
    });
}

#[test]
fn rows_and_columns() {
    run(&Shape::new(&[0, 3, 4, 8], 11), |pe| {
        let (mut row, mut column) = (Handle::INVALID, Handle::INVALID);
        let null = std::ptr::null();
        let (x, y) = (&raw mut row, &raw mut column);
        assert_eq!(team::split_2d(pe.w, Handle::WORLD, 4, null, 0, x, null, 0, y).unwrap(), 0);
        let number = |team| (team::my_pe(pe.w, team).unwrap(), team::n_pes(pe.w, team).unwrap());
        assert_eq!(number(row), (pe.me() % 4, if pe.me() < 8 { 4 } else { 3 }));
        assert_eq!(number(column), (pe.me() / 4, if pe.me() % 4 < 3 { 3 } else { 2 }));
        for team in [row, column] {
            pe.write(64, &(i64::from(pe.me())).to_ne_bytes());
            collectives::fcollect(pe.w, team, pe.at(128), pe.at(64), 8).unwrap();
            let got = pe.read(128, 8 * number(team).1 as usize);
            for (i, value) in got.chunks_exact(8).enumerate() {
                let world = team::translate_pe(pe.w, team, i as i32, Handle::WORLD).unwrap();
                assert_eq!(value, i64::from(world).to_ne_bytes());
            }
        }
        team::destroy(pe.w, row).unwrap();
        team::destroy(pe.w, column).unwrap();
    });
}

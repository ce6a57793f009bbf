#[test] fn t(){ println!("{:?}", std::env::current_exe()); }

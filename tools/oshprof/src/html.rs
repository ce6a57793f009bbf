pub fn page(_: &pellucid_profile::model::Profile, _: &pellucid_profile::report::Options, _: &[String], _: &dyn pellucid_profile::report::Symbols) -> String { String::new() }

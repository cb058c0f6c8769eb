//! The page with data in it, as a browser reads it.

mod embedded;

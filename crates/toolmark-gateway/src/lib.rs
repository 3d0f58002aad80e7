//! Puts it all together: configuration, upstreams, routes, reload, shutdown.

pub mod assemble;

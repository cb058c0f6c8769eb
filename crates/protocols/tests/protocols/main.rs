//! Algorithms and protocols through their public interface.

mod adaptive;
mod adaptive_datagrams;
mod adaptive_kills;
mod adaptive_memory;
mod adaptive_policy;
mod controllers_of_names;
mod dccp;
mod every_controller;
mod every_loss;
mod every_mechanism;
mod every_queue;
mod every_router;
mod ltp;
mod network;
mod tcpcl;
mod trait_sizes;

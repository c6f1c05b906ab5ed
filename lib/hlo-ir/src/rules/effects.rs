//! Rules of tokens, host transfers, asynchronous operations and custom calls.

rules! {}

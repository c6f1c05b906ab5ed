//! What is made at random holds what it promises. One program, as each one more is linked anew.

mod damaged_texts;
mod dictionary;
mod random_modules;

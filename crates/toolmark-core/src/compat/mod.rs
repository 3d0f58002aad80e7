//! The OpenAI Agents SDK, exactly as it behaves: for programs that must keep its names, keys and collisions.

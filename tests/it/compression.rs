//! The main job: a response body in small pieces leaves compressed.

package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit is far beyond what any test takes on a machine that does much besides, since no test may fail by a clock.
    package static var hangGuard: Self { .timeLimit(.minutes(30)) }
}

import Testing

/// Runs all tests. With an entry point of their own nothing looks for tests of XCTest, of which there are none, and so no index of the
/// sources need be made for that.
@main struct TestRunner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}

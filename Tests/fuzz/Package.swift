// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Coverage-guided fuzzing, apart from the tests: everything has to be compiled with the fuzzer's instrumentation.
// `Tests/fuzz/run` builds and runs it.
//
// The modules are not public API. Their access level is `package`, so the fuzzers are compiled under the name of the
// package that they feed, which SwiftPM derives from its folder.
let fed = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().deletingLastPathComponent()
    .lastPathComponent.lowercased().replacingOccurrences(of: "-", with: "_")

func fuzzer(_ name: String, feeding library: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["FuzzedInput", .product(name: library, package: "sluice")], packageAccess: false,
        swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-package-name", fed])])
}

let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        .target(name: "FuzzedInput", swiftSettings: [.swiftLanguageMode(.v6)]),
        // Two, so that whoever fuzzes the engine need not wait for everything else to be compiled.
        fuzzer("fuzz-engine", feeding: "MergeConformance"),
        fuzzer("fuzz-boundary", feeding: "BoundaryFuzzing"),
    ]
)

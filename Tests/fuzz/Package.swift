// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Coverage-guided fuzzing, apart from the tests: everything has to be compiled with the fuzzer's instrumentation.
// `Tests/fuzz/run` builds and runs it.
//
// The engine's modules are not public API. Their access level is `package`, so the fuzzer is compiled under the name of the
// package that it feeds, which SwiftPM derives from its folder.
let engine = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().deletingLastPathComponent()
    .lastPathComponent.lowercased().replacingOccurrences(of: "-", with: "_")

let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: [.product(name: "MergeConformance", package: "sluice")],
            packageAccess: false,
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-package-name", engine])])
    ]
)

// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Speed is measured here and nowhere else: apart from the tests, by hand, side by side with what it is compared to.
//
// The engine's modules are not public API. Their access level is `package`, so the benchmarks are compiled under the name of
// the package that they measure, which SwiftPM derives from its folder.
let engine = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent().lastPathComponent.lowercased()
let strict = Context.environment["SLUICE_STRICT"] == "1"
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .unsafeFlags(["-package-name", engine.replacingOccurrences(of: "-", with: "_")]),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CEpoll"),
        // The peer of `bench amqp`: librabbitmq without anything around it.
        .target(name: "CBareAMQP", linkerSettings: [.linkedLibrary("rabbitmq")]),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CBareAMQP", "CEpoll",
                .product(name: "AMQP", package: "sluice"),
                .product(name: "DeviceSync", package: "sluice"),
                .product(name: "SluiceEngine", package: "sluice"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            packageAccess: false,
            swiftSettings: settings),
    ]
)

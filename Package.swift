// swift-tools-version: 6.2
import PackageDescription

/// `SLUICE_STRICT=1` turns every warning of this package's own targets into an error; CI builds so.
let strict = Context.environment["SLUICE_STRICT"] == "1"

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// `SLUICE_QUICK_ENGINE=1` optimizes in debug builds what tests spend most of their time in, assertions kept: of the time that tests of
/// merges take, nine tenths. `deploy/build` sets it. Not for those who depend on this package: they may not use these flags.
let quickEngine: [SwiftSetting] =
    Context.environment["SLUICE_QUICK_ENGINE"] == "1"
    ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

// Not the umbrella `Collections`: its other modules, ropes among them, would be compiled for nothing.
let deques = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let hashTrees = Target.Dependency.product(name: "HashTreeCollections", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// Runs programs. Foundation's `Process` reads beyond its buffers in a process with more than some 1,300 open descriptors.
let subprocess: [Target.Dependency] = [
    .product(name: "Subprocess", package: "swift-subprocess"),
    .product(name: "SystemPackage", package: "swift-system"),
]

/// The publishers of the SDK.
let openCombine = Target.Dependency.product(name: "OpenCombine", package: "OpenCombine")

let ssl = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")

func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings + settings)
}

/// A library below `Tests`, for tests and tools.
func shared(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: swiftSettings)
}

/// A program below `Tests` that tries the product: no part of it.
func tool(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + [argumentParser], path: "Tests/\(name)", exclude: exclude,
        swiftSettings: swiftSettings)
}

/// A program of docs/examples: what an app's own package would build.
func example(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["DeviceSync", argumentParser] + dependencies, path: "docs/examples/\(name)/Sources",
        swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name), "TestSupport", "SeededRandom"] + dependencies,
        swiftSettings: swiftSettings)
}

// Layers, lowest first: a target sees only what it lists here, so the compiler enforces the arrows.
let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "sluice", targets: ["sluice"]),
        .executable(name: "conformance", targets: ["conformance"]),
        .library(name: "DeviceSync", targets: ["DeviceSync"]),
        .library(name: "RealmSwift", targets: ["RealmSwift"]),
        .library(name: "AMQP", targets: ["AMQP"]),
        // Preloaded by `fire` into processes whose clock is to be wrong.
        .library(name: "WrongClock", type: .dynamic, targets: ["WrongClock"]),
        // What the fuzzers feed: little enough to be compiled with their instrumentation.
        .library(name: "MergeConformance", targets: ["MergeConformance"]),
        .library(name: "BoundaryFuzzing", targets: ["BoundaryFuzzing"]),
        .library(
            name: "SluiceEngine",
            targets: [
                "SyncModel", "Changesets", "ExtendedJSON", "Merge", "RealmState", "Query", "Documents", "Views",
                "MergeConformance", "SeededRandom", "SyncServerSupport", "SyncProtocol", "Rules", "Messages", "Storage",
                "StorageSQLite", "Worker",
                "LocalCluster",
            ]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CRabbitMQ", pkgConfig: "librabbitmq", providers: [.apt(["librabbitmq-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        // Header only: what Swift's Glibc module leaves out.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // The dashboard's pages, which the C compiler puts into the binary.
        .target(name: "CDashboard", exclude: ["pages"]),

        module("SyncModel", settings: quickEngine),
        module("Loops", ["CLinux"]),
        module("AMQP", ["CRabbitMQ", "Loops", logging, deques]),
        module("PostgreSQL", ["CPostgreSQL", "Loops", logging, metrics, deques]),
        module("Changesets", settings: quickEngine),
        module("ExtendedJSON", ["SyncModel", "Changesets"]),
        module("Merge", ["SyncModel", "Changesets"], settings: quickEngine),
        module("RealmState", ["SyncModel", "Changesets", "ExtendedJSON", hashTrees], settings: quickEngine),
        module("Query", ["Changesets", "RealmState"], settings: quickEngine),
        module("Documents", ["SyncModel", "Changesets", "ExtendedJSON", "RealmState", "Query"]),
        module("SyncProtocol", ["SyncModel", "Changesets", "CZlib"]),
        module(
            "Messages",
            [
                "SyncModel", "Changesets", "ExtendedJSON", "AMQP", logging,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        module("Rules", ["SyncModel", "Changesets", "ExtendedJSON"]),
        module("Views", ["SyncModel", "Changesets", "RealmState", "Query", "Rules"]),
        module(
            "Storage",
            ["SyncModel", "Changesets", "ExtendedJSON", "Rules", .product(name: "Crypto", package: "swift-crypto")]),
        module("SQLiteStatements", [grdb, sqlite]),
        module("AdminAPI", ["SyncModel", "Rules", "Storage"]),
        module(
            "StorageSQLite",
            [
                "SyncModel", "Storage", "Changesets", "SQLiteStatements", grdb, sqlite,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        module(
            "StoragePostgreSQL",
            [
                "SyncModel", "Storage", "Changesets", "PostgreSQL", logging,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        module("Dashboard", ["CDashboard", "SyncModel", .product(name: "Crypto", package: "swift-crypto")]),
        module(
            "Operations",
            [
                "SyncModel", "AMQP", hummingbird, logging, metrics, lifecycle, nio("NIOCore"), nio("NIOPosix"),
                .product(name: "HummingbirdCore", package: "hummingbird"), ssl,
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "Configuration", package: "swift-configuration"),
            ]),
        module(
            "Inspection",
            [
                "SyncModel", "AMQP", "Changesets", "ExtendedJSON", "Documents", "RealmState", "Query", "Rules", "Views",
                "Messages", "Storage", "StorageSQLite", "Operations", "CZlib", logging,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        module(
            "Worker",
            [
                "SyncModel", "AMQP", "Changesets", "ExtendedJSON", "Documents", "Merge", "RealmState", "Query", "Views",
                "Messages", "Storage", "Operations", deques, logging,
                metrics, lifecycle,
            ],
            // What an owner's parts do runs where the owner runs, on its slice's own queue.
            settings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        module(
            "Gateway",
            [
                "SyncModel", "AMQP", "Changesets", "RealmState", "SyncProtocol", "Query", "Rules", "Views", "Messages",
                "Storage",
                "Operations",
                deques,
                logging,
                metrics,
                lifecycle, hummingbird, httpClient, nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                nio("NIOWebSocket"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"), ssl,
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ] + subprocess),
        module(
            "Coordinator",
            [
                "SyncModel", "Rules", "AdminAPI", "AMQP", "Changesets", "ExtendedJSON", "Documents", "RealmState",
                "Messages", "Storage", "Operations", "Inspection", "Dashboard",
                logging, metrics, lifecycle,
                hummingbird,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        // Backups on their way: packed, sealed, to a folder or a store of objects, and back.
        module(
            "Backups",
            [
                "CZlib", httpClient, nio("NIOCore"), nio("NIOHTTP1"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        // Clients of a gateway, many at once, for an operator's acceptance test.
        module(
            "Load",
            [
                "SyncModel", "Changesets", "SyncProtocol", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                nio("NIOWebSocket"), ssl,
            ]),
        module(
            "DeviceSync",
            [
                "SyncModel", "Changesets", "ExtendedJSON", "Merge", "RealmState", "Query", "SyncProtocol",
                "SQLiteStatements", grdb, sqlite, logging, httpClient,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOWebSocket"),
                .product(name: "NIOSOCKS", package: "swift-nio-extras"),
                ssl,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                openCombine,
            ], settings: [.define("OpenCombine")]),
        // DeviceSync under the name that programs written for Realm Swift import.
        module("RealmSwift", ["DeviceSync"]),
        .executableTarget(
            name: "sluice",
            dependencies: [
                "SyncModel", "Rules", "AdminAPI", "AMQP", "Changesets", "ExtendedJSON", "Documents", "Messages",
                "Storage",
                "StorageSQLite", "PostgreSQL", "StoragePostgreSQL", "Operations",
                "Inspection",
                "Worker", "Gateway", "Coordinator", "Load", "Backups", argumentParser, logging, metrics, lifecycle,
                httpClient,
                nio("NIOCore"), nio("NIOPosix"),
                nio("NIOHTTP1"), nio("NIOFoundationCompat"), ssl,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings),

        // No part of the product: tools, and what tools and tests share.
        shared("TestSupport", ["LocalCluster", logging]),
        shared("MemoryStorage", ["SyncModel", "Storage", "Changesets"]),
        shared(
            "StorageSupport",
            ["Storage", "StorageSQLite", "StoragePostgreSQL", "PostgreSQL", "MemoryStorage", "TestSupport", logging]),
        shared("MessagingSupport", ["SyncModel", "AMQP", "Messages", "TestSupport", logging]),
        shared("SeededRandom"),
        shared("APIDescriptions", ["SyncModel"]),
        .target(name: "WrongClock", path: "Tests/WrongClock"),
        shared(
            "SyncServerSupport",
            ["SyncModel", "SyncProtocol", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOWebSocket")]),
        shared(
            "LocalCluster",
            subprocess + [
                nio("NIOCore"), nio("NIOPosix"), .product(name: "Crypto", package: "swift-crypto"),
            ]),
        shared("WireClient", [nio("NIOCore"), nio("NIOPosix")]),
        shared(
            "MergeConformance",
            [
                "SyncModel", "Changesets", "ExtendedJSON", "Merge", "RealmState", "Query", "SyncProtocol",
                "SeededRandom", "CZlib",
            ]),
        shared(
            "BoundaryFuzzing",
            [
                "MergeConformance", "SeededRandom", "SyncModel", "Changesets", "RealmState", "Query", "Views",
                "SyncProtocol", "Rules", "AMQP", "Messages", "Storage", "MemoryStorage", "Operations", "Worker",
                "Gateway", logging,
                nio("NIOCore"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        tool("conformance", ["MergeConformance"]),
        tool(
            "demo",
            [
                "DeviceSync", "LocalCluster", .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        tool(
            "fire",
            [
                "SyncModel", "AMQP", "Changesets", "ExtendedJSON", "MergeConformance", "Messages", "DeviceSync",
                "LocalCluster", "SeededRandom", logging, nio("NIOCore"),
                nio("NIOPosix"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], exclude: ["run"]),
        tool(
            "siege",
            [
                "SyncModel", "Changesets", "SyncProtocol", "LocalCluster", "WireClient", "SeededRandom", nio("NIOCore"),
                nio("NIOPosix"),
            ],
            exclude: ["run"]),

        example("tasks", [logging]),
        example("assigner"),

        tests("SyncModel"),
        tests("AMQP", ["CRabbitMQ", "Loops", logging]),
        tests("PostgreSQL", [logging]),
        tests("Changesets", ["MergeConformance"]),
        tests("Merge", ["SyncModel", "Changesets", "RealmState", "MergeConformance"]),
        tests("MergeConformance", ["SyncModel", "Changesets", "Merge", "RealmState"]),
        tests("BoundaryFuzzing", ["MergeConformance", "APIDescriptions", "SyncModel"]),
        tests("RealmState", ["Changesets", "MergeConformance"]),
        tests("ExtendedJSON", ["Changesets"]),
        tests(
            "Documents",
            ["SyncModel", "Changesets", "ExtendedJSON", "Merge", "RealmState", "Query", "MergeConformance"]),
        tests("Views", ["SyncModel", "Changesets", "RealmState", "Rules", "Query"]),
        tests("Query", ["Changesets", "RealmState", "MergeConformance"]),
        tests("SyncProtocol", ["SyncModel"]),
        tests("Backups", [httpClient, nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix")]),
        tests("Load", ["SyncModel", "SyncProtocol", "Changesets"]),
        tests("Rules", ["SyncModel"]),
        tests("Messages", ["SyncModel", "AMQP", "Changesets", "ExtendedJSON"]),
        tests(
            "Storage",
            [
                "SyncModel", "Rules", "StorageSQLite", "StoragePostgreSQL", "PostgreSQL", "MemoryStorage",
                "StorageSupport", "Changesets", grdb, logging,
            ]),
        tests(
            "Operations",
            [
                metrics, logging, lifecycle, httpClient, nio("NIOCore"), nio("NIOPosix"), nio("NIOEmbedded"),
                nio("NIOHTTP1"), ssl, .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        tests(
            "Inspection",
            [
                "SyncModel", "MergeConformance", "AMQP", "MessagingSupport", "Changesets", "ExtendedJSON", "Documents",
                "RealmState",
                "Rules",
                "Views",
                "Messages",
                "Storage",
                "StorageSQLite",
                "Operations", logging,
            ]),
        tests(
            "Worker",
            [
                "SyncModel", "AMQP", "MessagingSupport", "Changesets", "ExtendedJSON", "Documents", "Merge",
                "MergeConformance", "RealmState", "Query", "Views", "Rules", "Gateway",
                "SyncProtocol", "Messages",
                "Storage", "StorageSQLite", "StorageSupport", "MemoryStorage", logging,
            ]),
        tests(
            "Gateway",
            [
                "SyncModel", "APIDescriptions", "AMQP", "MessagingSupport", "Changesets", "SyncProtocol", "Query",
                "Views", "Rules",
                "Messages", "Storage", "StorageSQLite", "StorageSupport",
                "Operations", logging, grdb,
                lifecycle, httpClient, hummingbird,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        tests("AdminAPI", ["SyncModel", "Storage"]),
        tests(
            "Coordinator",
            [
                "SyncModel", "Rules", "AdminAPI", "APIDescriptions", "AMQP", "MessagingSupport", "Changesets",
                "Documents", "RealmState", "Messages", "Storage", "StorageSQLite", "StorageSupport", "Operations",
                "Inspection", "MemoryStorage", grdb,
                logging,
                httpClient, hummingbird,
            ]),
        tests(
            "DeviceSync",
            [
                "RealmSwift", "SyncModel", "SyncServerSupport", "MergeConformance", "Changesets", "ExtendedJSON",
                "Merge",
                "RealmState",
                "SyncProtocol", "Query", grdb, logging, openCombine,
                nio("NIOCore"),
                nio("NIOPosix"),
                nio("NIOHTTP1"), nio("NIOWebSocket"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "SyncModel", "AMQP", "DeviceSync", "LocalCluster", "WireClient", "Changesets", "RealmState",
                "SyncProtocol", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
                logging, grdb,
                httpClient, nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix"),
            ],
            // What tests run in the browser.
            exclude: ["Dashboard/barriers.js"],
            swiftSettings: swiftSettings),
    ]
)

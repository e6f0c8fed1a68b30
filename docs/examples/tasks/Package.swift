// swift-tools-version: 6.2
import PackageDescription

// An app's package: it needs the library and nothing of the server. Elsewhere than in this repository, name its address in
// place of the path.
let package = Package(
    name: "tasks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: "../../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "tasks",
            dependencies: [
                .product(name: "DeviceSync", package: "sluice"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources")
    ]
)

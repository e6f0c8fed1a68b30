// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "todos",
    dependencies: [.package(name: "sluice", path: "../sluice")],
    targets: [
        .executableTarget(
            name: "todos", dependencies: [.product(name: "DeviceSync", package: "sluice")], path: "Sources")
    ]
)

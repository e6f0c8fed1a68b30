import Foundation
package import SyncModel

/// An OpenAPI description of `docs/api`, for tests that compare it with what is served.
package struct APIDescription: Sendable {
    /// A method and a path with its parameters in braces, such as `GET /api/admin/v1/apps/{app}`.
    package struct Operation: Hashable, Sendable, Comparable, CustomStringConvertible {
        package var method: String
        package var path: String

        package init(_ method: String, _ path: String) {
            self.method = method
            self.path = path
        }

        package var description: String { "\(method) \(path)" }
        package static func < (left: Self, right: Self) -> Bool {
            (left.path, left.method) < (right.path, right.method)
        }
    }

    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    private static let methods: Set<String> = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    /// Relative to the repository.
    package let file: String
    package let root: JSONValue

    /// - Parameter name: `admin`, `client` or `messages`.
    package init(_ name: String) throws {
        file = "docs/api/\(name).json"
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: file)
        do {
            root = try JSONParser.parse([UInt8](try Data(contentsOf: url)))
        } catch let error as JSONSyntaxError {
            throw Unreadable(description: "\(file): \(error.message)")
        }
    }

    package var operations: Set<Operation> {
        var operations: Set<Operation> = []
        for (path, item) in root["paths"]?.objectValue ?? [:] {
            for method in Self.methods where item[method] != nil {
                operations.insert(Operation(method.uppercased(), path))
            }
        }
        return operations
    }

    package func content(of operation: Operation) -> JSONValue? {
        root["paths"]?[operation.path]?[operation.method.lowercased()]
    }

    /// The keys of an object among `components/schemas`.
    package func keys(ofSchema name: String) -> Set<String>? {
        root["components"]?["schemas"]?[name]?["properties"]?.objectValue.map { Set($0.keys) }
    }

    /// The operation that serves a request; one without parameters before one with.
    package func operation(_ method: String, path: String) -> Operation? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        return operations.filter { operation in
            let described = operation.path.split(separator: "/")
            return operation.method == method && described.count == segments.count
                && zip(described, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }.min { left, right in left.path.count { $0 == "{" } < right.path.count { $0 == "{" } }
    }

    // MARK: Comparing

    /// What to do so that the description has these routes and no others; empty if nothing.
    package func differences(from routes: Set<Operation>) -> [String] {
        let missing = routes.subtracting(operations).sorted().map {
            "\(file) does not describe \($0): add it to \"paths\", with its answers, and what it takes and gives to \"components\""
        }
        let stale = operations.subtracting(routes).sorted().map {
            "\(file) describes \($0), which is not served: take it out, or add the route"
        }
        return missing + stale
    }

    /// What is wrong with an answer by the description; nil if nothing is.
    ///
    /// Of routes and methods that are not there only the status is looked at.
    package func problem(
        _ method: String, _ path: String, status: Int, contentType: String?, body: [UInt8]
    ) -> String? {
        guard let operation = operation(method, path: path) else {
            return (400..<500).contains(status)
                ? nil : "\(file) does not describe \(method) \(path), answered \(status)"
        }
        // These say nothing of the route: that it is not there for the method, or that there is no token.
        guard let answer = content(of: operation)?["responses"]?["\(status)"].map(resolved) else {
            return "\(file): \(operation) has no answer \(status)"
        }
        guard let contents = answer["content"]?.objectValue else {
            return body.isEmpty ? nil : "\(file): the answer \(status) of \(operation) has no content"
        }
        guard let content = contentType.flatMap({ contents[$0] }) else {
            return "\(file): the answer \(status) of \(operation) has no content type \(contentType ?? "none")"
        }
        guard contentType == "application/json", let schema = content["schema"] else { return nil }
        guard let json = try? JSONParser.parse(body) else { return "the answer of \(operation) is no JSON" }
        return SchemaCheck(root: root, isAnswer: true).problem(of: json, by: schema, at: "answer")
            .map { "\(file), the answer \(status) of \(operation): \($0)" }
    }

    /// What is wrong with a request's body that was accepted; nil if nothing is.
    package func problem(_ method: String, _ path: String, acceptedBody body: [UInt8]) -> String? {
        guard !body.isEmpty, let operation = operation(method, path: path) else { return nil }
        guard let schema = content(of: operation)?["requestBody"]?["content"]?["application/json"]?["schema"] else {
            return "\(file): \(operation) takes no body, and accepted one"
        }
        guard let json = try? JSONParser.parse(body) else { return "\(operation) accepted a body that is no JSON" }
        return SchemaCheck(root: root).problem(of: json, by: schema, at: "body")
            .map { "\(file), the body of \(operation): \($0)" }
    }

    /// What is wrong with a value by one of `components/schemas`; nil if nothing is.
    package func problem(of value: JSONValue, bySchema name: String) -> String? {
        guard let schema = root["components"]?["schemas"]?[name] else { return "\(file) has no schema \(name)" }
        return SchemaCheck(root: root).problem(of: value, by: schema, at: name)
    }

    private func resolved(_ value: JSONValue) -> JSONValue { SchemaCheck(root: root).resolved(value) }
}

extension JSONValue {
    package subscript(key: String) -> JSONValue? { objectValue?[key] }
}

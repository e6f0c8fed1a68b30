import AdminAPI
import Foundation
import Hummingbird
import Messages
import Operations
import SyncModel

/// Reads what admin requests say, and says precisely what is wrong with them.
enum AdminRequest {
    /// Decodes a JSON object; keys that the type does not know are refused, for they are mistakes, and so is a key that stands twice.
    static func body<Body: AdminBody>(
        _ type: Body.Type, of request: Request, keys: Set<String> = Body.keys, limit: Int = AdminLimits.body
    ) async throws -> Body {
        let buffer = try await request.wholeBody(upTo: limit)
        let bytes = buffer.readableBytes == 0 ? Array("{}".utf8) : Array(buffer.readableBytesView)
        let members = try members(of: bytes, keys, nullable: type.nullableKeys)
        AuditNotes.current?.set(description(of: members, showing: type.shownKeys))
        if members["dryRun"] == .bool(true) { AuditNotes.current?.setDryRun() }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw AdminError.invalid(describe(error))
        }
    }

    private static func members(
        of bytes: [UInt8], _ keys: Set<String>, nullable: Set<String>
    ) throws(AdminError) -> [String: JSONValue] {
        let json: JSONValue
        do {
            json = try JSONParser.parse(bytes)
        } catch {
            throw .invalid("the body is not JSON as it should be: \(error.message)")
        }
        guard let members = json.objectValue else { throw .invalid("expected a JSON object") }
        if let stranger = Set(members.keys).subtracting(keys).sorted().first {
            let known = keys.isEmpty ? "no keys" : keys.sorted().joined(separator: ", ")
            throw .invalid("the key \"\(stranger.prefix(64))\" is not known; expected \(known)")
        }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) where value == .null && !nullable.contains(key) {
            throw .invalid("\(key): expected a value, found null; leave the key out if nothing is meant")
        }
        return members
    }

    /// What a body says, for the audit log: of keys that may hold secrets only their names.
    private static func description(of members: [String: JSONValue], showing shown: Set<String>) -> String {
        members.sorted { $0.key < $1.key }.map { key, value in
            guard shown.contains(key) else { return key }
            return switch value {
            case .bool(let flag): "\(key)=\(flag)"
            case .integer(let number): "\(key)=\(number)"
            case .string(let text): "\(key)=\"\(text.prefix(100))\""
            default: "\(key)=..."
            }
        }.joined(separator: ", ")
    }

    static func limit(
        _ request: Request, default standard: Int = AdminLimits.clientRealms,
        in allowed: ClosedRange<Int> = AdminLimits.entries
    ) throws(AdminError) -> Int {
        try number(.limit, request, in: allowed) ?? standard
    }

    /// - Returns: nil if the query does not have it.
    static func number(
        _ name: AdminQuery, _ request: Request, in allowed: ClosedRange<Int>
    ) throws(AdminError) -> Int? {
        guard let text = query(name, request) else { return nil }
        guard let number = Int(text), allowed.contains(number) else {
            throw .invalid(
                "\(name.rawValue): expected \(allowed.lowerBound) to \(allowed.upperBound), found \(text.prefix(20))")
        }
        return number
    }

    /// Where the page before ended: its `next`, read by `parse`; nil if the query names none.
    static func after<Place>(_ request: Request, _ parse: (String) -> Place?) throws(AdminError) -> Place? {
        guard let text = query(.after, request) else { return nil }
        guard let place = parse(text) else { throw .invalid("after: expected the \"next\" of the page before") }
        return place
    }

    static func query(_ name: AdminQuery, _ request: Request) -> String? {
        request.uri.queryParameters[name.rawValue[...]].map(String.init)
    }

    /// The values of a parameter that may stand several times.
    static func queries(_ name: AdminQuery, _ request: Request) -> [String] {
        request.uri.queryParameters[values: name.rawValue[...]].map(String.init)
    }

    /// Whether a query parameter is `true`; false if it is absent.
    static func flag(_ name: AdminQuery, _ request: Request) throws(AdminError) -> Bool {
        switch query(name, request) {
        case nil, "false": return false
        case "true": return true
        case let other?: throw .invalid("\(name.rawValue): expected true or false, found \(other.prefix(20))")
        }
    }

    /// Reads a value that must be among those that a key or a query parameter may have; nil if it is absent.
    static func value<Value: RawRepresentable & CaseIterable>(
        _ text: String?, called name: String
    ) throws(AdminError) -> Value? where Value.RawValue == String {
        guard let text else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .invalid("\(name): expected one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Whether a name is of lower-case letters, digits, - and _, 1 to 64 of them.
    static func isPlainName(_ name: String) -> Bool {
        AdminLimits.appID.contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, _): "the key \"\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context) where context.codingPath.isEmpty:
            "expected a JSON object, not something of another type than \(type)"
        case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
        case .valueNotFound(let type, let context): "\(path(context)): expected \(type), found null"
        // JSON it is, by the parser; Foundation says so, and names no key, of numbers that its types cannot hold.
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "a number in the body is out of range"
        case .dataCorrupted(let context): "\(path(context)): \(context.debugDescription)"
        @unknown default: "the body cannot be read"
        }
    }
}

extension RouterGroup {
    func on(
        _ method: HTTPRequest.Method, _ route: AdminRoute,
        use handler: @Sendable @escaping (Request, Context) async throws -> Response
    ) {
        on(RouterPath(route.rawValue), method: method, use: handler)
    }

    /// A route whose answer is a document.
    func answer<Document: Encodable & Sendable>(
        _ method: HTTPRequest.Method, _ route: AdminRoute,
        with document: @Sendable @escaping (Request, Context) async throws -> Document
    ) {
        on(method, route) { try AdminResponse.json(try await document($0, $1)) }
    }
}

extension AdminRequestContext {
    /// What stands in the path for the parameter.
    func value(of parameter: AdminParameter) throws -> String { try parameters.require(parameter.rawValue) }
}

enum AdminResponse {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: try line(value)))
    }

    static func line(_ value: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(bytes: try encoder.encode(value))
        buffer.writeString("\n")
        return buffer
    }

    static var encoder: JSONEncoder { JSONEncoder.message }
}

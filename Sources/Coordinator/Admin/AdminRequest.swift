import AdminAPI
import Foundation
import Hummingbird
import Messages

/// Reads what admin requests say, and says precisely what is wrong with them.
enum AdminRequest {
    /// Decodes a JSON object; keys that the type does not know are refused, for they are mistakes.
    static func body<Body: AdminBody>(
        _ type: Body.Type, of request: Request, keys: Set<String> = Body.keys
    ) async throws -> Body {
        var request = request
        let buffer = try await request.collectBody(upTo: AdminLimits.body)
        let data = buffer.readableBytes == 0 ? Data("{}".utf8) : Data(buffer.readableBytesView)
        do {
            let given = Set(try JSONDecoder().decode([String: AnyValue].self, from: data).keys)
            if let stranger = given.subtracting(keys).sorted().first {
                throw AdminError.invalid(
                    "the key \"\(stranger.prefix(64))\" is not known; expected \(keys.sorted().joined(separator: ", "))"
                )
            }
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw AdminError.invalid(describe(error))
        }
    }

    static func limit(_ request: Request, default standard: Int = AdminLimits.clientRealms) throws -> Int {
        guard let text = query(.limit, request) else { return standard }
        let allowed = AdminLimits.entries
        guard let number = Int(text), allowed.contains(number) else {
            throw AdminError.invalid(
                "limit: expected \(allowed.lowerBound) to \(allowed.upperBound), found \(text.prefix(20))")
        }
        return number
    }

    static func query(_ name: AdminQuery, _ request: Request) -> String? {
        request.uri.queryParameters[name.rawValue[...]].map(String.init)
    }

    /// One of the values that a key or a query parameter may have.
    static func value<Value: RawRepresentable & CaseIterable>(
        _ text: String?, called name: String
    ) throws(AdminError) -> Value? where Value.RawValue == String {
        guard let text else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .invalid("\(name): expected one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// A value of whatever type.
    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
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
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body is not JSON"
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
}

extension BasicRequestContext {
    /// What stands in the path for the parameter.
    func value(of parameter: AdminParameter) throws -> String { try parameters.require(parameter.rawValue) }
}

enum AdminResponse {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        var buffer = ByteBuffer(bytes: try encoder.encode(value))
        buffer.writeString("\n")
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: buffer))
    }

    static var encoder: JSONEncoder { JSONEncoder.message }
}

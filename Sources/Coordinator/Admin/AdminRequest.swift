import Foundation
import Hummingbird
import Messages

/// Reads what admin requests say, and says precisely what is wrong with them.
enum AdminRequest {
    static let maxBody = 65_536

    /// Decodes a JSON object; keys that the type does not know are refused, for they are mistakes.
    static func body<Body: Decodable>(_ type: Body.Type, of request: Request, keys: Set<String>) async throws -> Body {
        var request = request
        let buffer = try await request.collectBody(upTo: maxBody)
        let data = buffer.readableBytes == 0 ? Data("{}".utf8) : Data(buffer.readableBytesView)
        do {
            let given = try JSONDecoder().decode(KeyList.self, from: data).keys
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

    static func limit(_ request: Request, default standard: Int = 100, max: Int = 1000) throws -> Int {
        guard let text = request.uri.queryParameters["limit"] else { return standard }
        guard let number = Int(text), (1...max).contains(number) else {
            throw AdminError.invalid("limit: expected 1 to \(max), found \(text.prefix(20))")
        }
        return number
    }

    static func query(_ name: String, _ request: Request) -> String? {
        request.uri.queryParameters[name[...]].map(String.init)
    }

    private struct KeyList: Decodable {
        var keys: Set<String>

        init(from decoder: any Decoder) throws {
            keys = Set(try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue))
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
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

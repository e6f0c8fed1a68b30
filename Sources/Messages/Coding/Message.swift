package import AMQP
package import Foundation

/// A message between processes. Each type has one name, its AMQP `type` property.
///
/// Every message has a JSON form (`application/json`), which operators may publish too. The three bulk messages that
/// carry changesets also have a compact binary form (`application/vnd.sluice`), which processes use among themselves.
package protocol Message: Sendable {
    static var type: String { get }
    func jsonBody() throws -> [UInt8]
    init(jsonBody: [UInt8]) throws
    /// The binary form, or nil for a message that travels as JSON only.
    func binaryBody() -> [UInt8]?
    init(binaryBody: [UInt8]) throws
    /// The version of Sluice's messages that a process must know to read it (`MessageVersion`).
    var messageVersion: Int64 { get }
    /// Numbers that travel as headers, by name: earlier versions read the binary form, and would refuse one that had them.
    var headers: [String: UInt64] { get }
    /// Takes what the headers say.
    mutating func take(_ header: (String) -> UInt64?)
}

/// A message whose JSON form is that of its properties. Only messages that carry documents write theirs themselves.
package protocol CodableMessage: Message, Codable {}

extension CodableMessage {
    package func jsonBody() throws -> [UInt8] { Array(try JSONEncoder.message.encode(self)) }
    package init(jsonBody: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(jsonBody)) }
}

extension Message {
    package func binaryBody() -> [UInt8]? { nil }
    package var messageVersion: Int64 { 1 }
    package var headers: [String: UInt64] { [:] }
    package mutating func take(_ header: (String) -> UInt64?) {}
    package init(binaryBody: [UInt8]) throws {
        throw MessageError(
            messageType: Self.type, reason: "there is no binary form; send content type \(ContentType.json)")
    }
}

package enum ContentType {
    package static let json = "application/json"
    package static let binary = "application/vnd.sluice"
}

extension JSONEncoder {
    /// Sorted keys and plain slashes, so that bodies can be compared and read.
    package static var message: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension AMQPMessage {
    /// - Parameter id: the message id; an effect that must not be repeated is keyed by it.
    package init<M: Message>(
        _ message: M, id: String = UUID().uuidString.lowercased(), correlationID: String? = nil,
        replyTo: String? = nil, persistent: Bool = true
    ) throws {
        let binary = message.binaryBody()
        let body = try binary ?? message.jsonBody()
        var properties = AMQPProperties()
        properties.type = M.type
        properties.messageID = id
        properties.correlationID = correlationID
        properties.replyTo = replyTo
        properties.timestamp = UInt64(Date().timeIntervalSince1970)
        properties.contentType = binary == nil ? ContentType.json : ContentType.binary
        properties.persistent = persistent
        if message.messageVersion > 1 { properties.headers[MessageVersion.header] = .int(message.messageVersion) }
        for (name, number) in message.headers { properties.headers[name] = .int(Int64(clamping: number)) }
        self.init(body: body, properties: properties)
    }

    /// Decodes the body by its content type; one without a content type is taken for JSON, as shells leave it out.
    package func decode<M: Message>(_ type: M.Type) throws(MessageError) -> M {
        do {
            var message: M
            switch properties.contentType ?? ContentType.json {
            case ContentType.binary: message = try M(binaryBody: body)
            case ContentType.json: message = try M(jsonBody: body)
            case let other:
                throw MessageError(
                    messageType: M.type,
                    reason: "content type \(other); expected \(ContentType.json) or \(ContentType.binary)")
            }
            message.take { properties.headers[$0]?.intValue.flatMap { UInt64(exactly: $0) } }
            return message
        } catch let error as MessageError {
            throw error
        } catch let error as DecodingError {
            throw MessageError(messageType: M.type, reason: error.reason)
        } catch {
            throw MessageError(messageType: M.type, reason: "\(error)")
        }
    }
}

extension DecodingError {
    /// One line that names the key and what was expected.
    var reason: String {
        func path(_ context: Context) -> String { context.codingPath.map(\.stringValue).joined(separator: ".") }
        return switch self {
        case .keyNotFound(let key, let context):
            "key \"\(path(context).isEmpty ? "" : path(context) + ".")\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context): "\"\(path(context))\": expected \(type)"
        case .valueNotFound(let type, let context): "\"\(path(context))\": expected \(type), found null"
        case .dataCorrupted(let context): "\(path(context)): \(context.debugDescription)"
        @unknown default: "not decodable"
        }
    }
}

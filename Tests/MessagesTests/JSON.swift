import Foundation
import Messages

enum JSON {
    static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder.message.encode(value) }
}

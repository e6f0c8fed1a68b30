import SyncModel
import SyncProtocol

enum ProtocolFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        for mode in [SyncMode.partition, .flexible] {
            _ = try? ClientMessageParser(mode: mode).parse(bytes)
            _ = try? ServerMessageParser(mode: mode).parse(bytes)
        }
        _ = ClientMessageParser.uploadSession(inPrefix: bytes)
    }
}

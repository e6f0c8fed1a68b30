import SyncModel

extension HeadReader {
    /// The three fields of a head that announce the body.
    mutating func bodySizes(_ separator: UInt8 = space) throws(SyncProtocolError) -> Body.Sizes {
        Body.Sizes(
            isCompressed: try bool("compressed"), plain: try size("plainSize"),
            packed: try size("packedSize", separator))
    }
}

extension ErrorCode {
    /// The code field of an error message; peers keep it in 32 bits.
    init(_ reader: inout HeadReader) throws(SyncProtocolError) {
        let value = try reader.number("code")
        guard let code = Int32(exactly: value) else { throw reader.error("code exceeds 31 bits") }
        self.init(rawValue: Int(code))
    }
}

extension TestCommand {
    init(_ reader: inout HeadReader, limits: ProtocolLimits) throws(SyncProtocolError) {
        let session: SessionIdent = try reader.nonZero("session")
        let request: RequestIdent = try reader.integer("requestIdent")
        let size = try reader.size("size", HeadReader.lineFeed)
        guard size <= limits.maxJSONBytes else {
            throw SyncProtocolError(
                .otherError, action: .protocolViolation,
                "limit exceeded: a command of \(size) bytes, \(limits.maxJSONBytes) allowed")
        }
        self.init(session: session, request: request, text: try reader.text(size, "body"))
    }
}

import SyncModel

/// An entry in the body of an UPLOAD or DOWNLOAD: a header of numbers, then a changeset.
protocol BodyEntry {
    var changeset: [UInt8] { get set }
}

extension UploadedChangeset: BodyEntry {}
extension HistoryEntry: BodyEntry {}

/// The body of an UPLOAD or DOWNLOAD: entries, compressed when it pays.
struct Body {
    /// Bodies up to here travel as they are (docs/protocol.md, "Client messages").
    static let compressionThreshold = 1024

    let sizes: Sizes
    let wire: [UInt8]

    init(plain: [UInt8]) {
        if plain.count > Self.compressionThreshold, let packed = Zlib.compressIfSmaller(plain) {
            sizes = Sizes(isCompressed: true, plain: plain.count, packed: packed.count)
            wire = packed
        } else {
            sizes = Sizes(isCompressed: false, plain: plain.count, packed: 0)
            wire = plain
        }
    }

    /// What the head of the message says of its body.
    struct Sizes {
        var isCompressed: Bool
        var plain: Int
        /// 0 for a body that is not compressed.
        var packed: Int

        /// The numbers in the order of the wire.
        var numbers: [UInt64] { [isCompressed ? 1 : 0, UInt64(plain), UInt64(packed)] }
    }

    /// Reads the body behind a head that announced it, inflates it, and reads its entries until the body is used up.
    ///
    /// - Parameter header: reads an entry's numbers up to the size of its changeset.
    static func entries<Entry: BodyEntry>(
        from reader: inout HeadReader, _ sizes: Sizes, limits: ProtocolLimits, tooLarge: (String) -> SyncProtocolError,
        header: (inout HeadReader) throws(SyncProtocolError) -> Entry
    ) throws(SyncProtocolError) -> [Entry] {
        let plain = try plain(from: &reader, sizes, limits: limits, tooLarge: tooLarge)
        var entries: [Entry] = []
        var reader = HeadReader(plain, code: .badChangesetHeaderSyntax, subject: "entry")
        while !reader.isAtEnd {
            guard entries.count < limits.maxEntries else { throw tooLarge("more than \(limits.maxEntries) entries") }
            var entry = try header(&reader)
            let size = try reader.size("size")
            guard size <= reader.remaining else {
                throw SyncProtocolError(
                    .badChangesetSize, "entry: \(size) bytes announced, \(reader.remaining) left in the body")
            }
            guard size <= limits.maxChangesetBytes else {
                throw tooLarge("a changeset of \(size) bytes, \(limits.maxChangesetBytes) allowed")
            }
            entry.changeset = try reader.raw(size, "changeset")
            entries.append(entry)
        }
        return entries
    }

    private static func plain(
        from reader: inout HeadReader, _ sizes: Sizes, limits: ProtocolLimits, tooLarge: (String) -> SyncProtocolError
    ) throws(SyncProtocolError) -> [UInt8] {
        guard sizes.plain <= limits.maxPlainBodyBytes else {
            throw tooLarge("a body of \(sizes.plain) bytes, \(limits.maxPlainBodyBytes) allowed")
        }
        let wire = try reader.raw(sizes.isCompressed ? sizes.packed : sizes.plain, "body")
        try reader.finish()
        guard sizes.isCompressed else {
            guard sizes.packed == 0 else {
                throw reader.error("packedSize \(sizes.packed) of a body that is not packed")
            }
            return wire
        }
        do {
            return try Zlib.decompress(wire, plainSize: sizes.plain)
        } catch {
            throw SyncProtocolError(.badDecompression, "body: \(error.message)")
        }
    }
}

internal import Crypto
internal import CryptoExtras
internal import Foundation

/// Encrypts the pages of one database, wherever they stand, with AES-256 in GCM: each time with a new nonce, and bound to their place, so
/// that a page that was changed or moved is no page any more.
///
/// SQLite leaves the last bytes of each page free. What is stored instead of the page is the nonce, the encrypted rest, and the tag. The
/// first page begins with a header in plain, for which there is room because SQLite's own header has bytes that are always the same.
final class PageCipher: Sendable {
    /// All encrypted files have pages of this size.
    static let pageSize = 4096
    /// What SQLite must leave free at the end of each page: a nonce and a tag.
    static let reserved = 28
    private static let contentSize = pageSize - reserved

    /// Where a page is stored.
    enum Place {
        case database(page: UInt32)
        /// A position in the write-ahead log.
        case log(UInt64)
        /// A position in the rollback journal, and the page of the database that is stored there.
        case journal(UInt64, page: UInt32)
    }

    let header: EncryptedHeader
    private let pageKey: SymmetricKey
    private let logKey: SymmetricKey

    init(_ header: EncryptedHeader, _ key: EncryptionKey) {
        self.header = header
        pageKey = key.derived("pages", salt: header.salt, bytes: 32)
        logKey = key.derived("log", salt: header.salt, bytes: 32)
    }

    /// What is to be stored instead of a page.
    /// - Returns: nil for a page that does not have the form that all pages of encrypted files have.
    func seal(_ page: UnsafeRawBufferPointer, at place: Place) -> Data? {
        guard page.count == Self.pageSize, page[Self.contentSize...].allSatisfy({ $0 == 0 }) else { return nil }
        guard case .database(page: 1) = place else {
            return try? AES.GCM.seal(
                UnsafeRawBufferPointer(rebasing: page[..<Self.contentSize]), using: pageKey,
                authenticating: bound(to: place)
            ).combined
        }
        guard FirstPage.hasForm(page) else { return nil }
        let content = FirstPage.variable.reduce(into: Data(capacity: Self.pageSize)) { $0 += page[$1] }
        let sealed = try? AES.GCM.seal(content, using: pageKey, authenticating: bound(to: place)).combined
        return sealed.map { Data(header.bytes) + $0 }
    }

    /// Decrypts what is stored instead of a page.
    /// - Returns: false if it is not what was stored there with this key.
    func open(_ stored: UnsafeRawBufferPointer, at place: Place, into page: UnsafeMutableRawBufferPointer) -> Bool {
        guard stored.count == Self.pageSize, page.count == Self.pageSize else { return false }
        let isFirst = if case .database(page: 1) = place { true } else { false }
        let start = isFirst ? EncryptedHeader.length : 0
        guard stored[..<start].elementsEqual(isFirst ? header.bytes : []),
            let box = try? AES.GCM.SealedBox(combined: UnsafeRawBufferPointer(rebasing: stored[start...])),
            let content = try? AES.GCM.open(box, using: pageKey, authenticating: bound(to: place))
        else { return false }
        page.initializeMemory(as: UInt8.self, repeating: 0)
        if isFirst {
            FirstPage.fill(page, with: content)
        } else {
            page.copyBytes(from: content)
        }
        return true
    }

    private func bound(to place: Place) -> [UInt8] {
        let (kind, position, page): (UInt8, UInt64, UInt32) =
            switch place {
            case .database(let page): (0, 0, page)
            case .log(let position): (1, position, 0)
            case .journal(let position, let page): (2, position, page)
            }
        return [kind] + position.bigEndianBytes + page.bigEndianBytes
    }

    // MARK: The log's own headers

    /// The bytes of the header of a page in the log: the page's number, the size of the database, and what the next two functions cover.
    static let frameHeaderSize = 24
    private static let hidden = 8..<24

    /// Hides the checksum in the header of a page in the log: SQLite computes it over the page before it is encrypted, so it would confirm guesses.
    /// With it go the log's two random numbers, which make it another one each time the log begins anew.
    func sealFrameHeader(_ frame: inout [UInt8], at position: UInt64) -> Bool {
        var block = Array(frame[Self.hidden])
        Self.add(position, to: &block)
        guard (try? AES.permute(&block, key: logKey)) != nil else { return false }
        frame.replaceSubrange(Self.hidden, with: block)
        return true
    }

    func openFrameHeader(_ frame: inout [UInt8], at position: UInt64) -> Bool {
        var block = Array(frame[Self.hidden])
        guard (try? AES.inversePermute(&block, key: logKey)) != nil else { return false }
        Self.add(position, to: &block)
        frame.replaceSubrange(Self.hidden, with: block)
        return true
    }

    private static func add(_ position: UInt64, to block: inout [UInt8]) {
        for (index, byte) in position.bigEndianBytes.enumerated() { block[index] ^= byte }
    }
}

/// The first page of a database, whose first bytes are SQLite's header.
enum FirstPage {
    /// The whole header of SQLite's.
    static let headerSize = 100
    private static let magic = Array("SQLite format 3\0".utf8)
    /// Zeros, as SQLite's file format says, for as long as it has this version.
    private static let zeros = 72..<88
    /// All but what is always the same, in two parts.
    static let variable = [
        magic.count..<zeros.lowerBound, zeros.upperBound..<PageCipher.pageSize - PageCipher.reserved,
    ]

    static func hasForm(_ page: UnsafeRawBufferPointer) -> Bool {
        let constant = fixedHeader
        return page.starts(with: magic) && page[zeros].allSatisfy { $0 == 0 }
            && [16, 17, 20].allSatisfy { page[$0] == constant[$0] }
    }

    static func fill(_ page: UnsafeMutableRawBufferPointer, with content: Data) {
        page.copyBytes(from: magic)
        var rest = content[...]
        for part in variable {
            UnsafeMutableRawBufferPointer(rebasing: page[part]).copyBytes(from: rest.prefix(part.count))
            rest = rest.dropFirst(part.count)
        }
    }

    /// The size of pages and of what is reserved in them: all that SQLite takes from the header that it reads before it locks the file.
    static let fixedHeader: [UInt8] = {
        var header = magic + [UInt8](repeating: 0, count: headerSize - magic.count)
        header[16] = UInt8(PageCipher.pageSize >> 8)
        header[20] = UInt8(PageCipher.reserved)
        return header
    }()
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

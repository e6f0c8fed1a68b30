import Crypto
import Foundation

/// Seals a file in chunks of bounded size: AES-256-GCM, each chunk under its number, the last one marked as the last, so that none
/// can be changed, left out, moved or cut off unseen. What is authenticated with each chunk is the header and the file's name.
struct Sealing {
    static let chunkBytes = 1 << 20
    static let tagBytes = 16

    private let key: SymmetricKey
    private let context: [UInt8]
    private var number: UInt64 = 0
    private var waiting: [UInt8] = []
    let header: SealHeader

    init(_ keys: SealKeys, salt: [UInt8], name: String) throws {
        header = SealHeader(of: keys.secret, salt: salt)
        key = try keys.key(for: header)
        context = header.encoded + Array(name.utf8)
    }

    /// - Returns: the sealed chunks that are full.
    mutating func add(_ bytes: [UInt8]) throws -> [UInt8] {
        waiting += bytes
        var sealed: [UInt8] = []
        // The last chunk is not known before the end, so one always waits.
        while waiting.count > Self.chunkBytes {
            sealed += try seal(Array(waiting.prefix(Self.chunkBytes)), isLast: false)
            waiting.removeFirst(Self.chunkBytes)
        }
        return sealed
    }

    /// - Returns: the last chunk.
    mutating func finish() throws -> [UInt8] { try seal(waiting, isLast: true) }

    private mutating func seal(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            bytes, using: key, nonce: Self.nonce(number, isLast: isLast), authenticating: context)
        number += 1
        return Array(box.ciphertext) + Array(box.tag)
    }

    static func nonce(_ number: UInt64, isLast: Bool) throws -> AES.GCM.Nonce {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        return try AES.GCM.Nonce(data: [0, 0, 0] + counter + [isLast ? 1 : 0])
    }
}

/// Opens what `Sealing` has made.
struct Unsealing {
    private static let sealedBytes = Sealing.chunkBytes + Sealing.tagBytes

    private let keys: SealKeys
    private let name: String
    private var opened: (key: SymmetricKey, context: [UInt8])?
    private var number: UInt64 = 0
    private var waiting: [UInt8] = []

    init(_ keys: SealKeys, name: String) {
        self.keys = keys
        self.name = name
    }

    /// - Returns: the content of the chunks that are whole and not the last.
    /// - Throws: `corrupt`, `notAllowed`.
    mutating func add(_ bytes: [UInt8]) throws -> [UInt8] {
        waiting += bytes
        if opened == nil {
            guard waiting.count >= SealHeader.bytes else { return [] }
            let header = try SealHeader(Array(waiting.prefix(SealHeader.bytes)))
            waiting.removeFirst(SealHeader.bytes)
            opened = (try keys.key(for: header), header.encoded + Array(name.utf8))
        }
        var content: [UInt8] = []
        while waiting.count > Self.sealedBytes {
            content += try open(Array(waiting.prefix(Self.sealedBytes)), isLast: false)
            waiting.removeFirst(Self.sealedBytes)
        }
        return content
    }

    /// - Returns: the content of the last chunk.
    /// - Throws: `corrupt`, also if the file was cut off.
    mutating func finish() throws -> [UInt8] {
        guard opened != nil else { throw BackupError(.corrupt, "\(name) is cut off") }
        return try open(waiting, isLast: true)
    }

    private mutating func open(_ bytes: [UInt8], isLast: Bool) throws -> [UInt8] {
        guard let (key, context) = opened, bytes.count >= Sealing.tagBytes else {
            throw BackupError(.corrupt, "\(name) is cut off")
        }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: Sealing.nonce(number, isLast: isLast), ciphertext: bytes.dropLast(Sealing.tagBytes),
                tag: bytes.suffix(Sealing.tagBytes))
            number += 1
            return Array(try AES.GCM.open(box, using: key, authenticating: context))
        } catch {
            throw BackupError(
                .corrupt, "\(name) cannot be opened: it was sealed with another key or passphrase, changed, or cut off")
        }
    }
}

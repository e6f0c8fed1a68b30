import Foundation

/// How a backup's files are kept. Pure but for the files: everything here blocks.
package enum Packing: String, Sendable, CaseIterable {
    /// The files as they are.
    case plain = ""
    /// Each a gzip file.
    case compressed = ".gz"
    /// Each a gzip file, sealed.
    case sealed = ".gz.sealed"

    private static let pieceBytes = 1 << 18

    /// Packs a file into another.
    ///
    /// - Parameters:
    ///   - name: what the file is called in the backup: a sealed file opens under no other name.
    ///   - keys: for `sealed`.
    ///   - salt: of the backup.
    func pack(_ source: String, to target: String, name: String, keys: SealKeys?, salt: [UInt8]) throws {
        let input = try FileHandle(forReadingFrom: URL(filePath: source))
        defer { try? input.close() }
        let output = try Self.make(target)
        defer { try? output.close() }
        let deflation = self == .plain ? nil : try Deflation()
        var sealing = try sealing(name, keys, salt)
        if let sealing { try output.write(contentsOf: sealing.header.encoded) }
        var isLast = false
        while !isLast {
            let piece = [UInt8](try input.read(upToCount: Self.pieceBytes) ?? Data())
            isLast = piece.isEmpty
            let packed = deflation?.add(piece, isLast: isLast) ?? piece
            try output.write(contentsOf: sealing?.add(packed) ?? packed)
        }
        if let rest = try sealing?.finish() { try output.write(contentsOf: rest) }
        try output.synchronize()
    }

    /// Unpacks a file into another.
    ///
    /// - Parameter maxBytes: the most bytes that the content may have.
    /// - Throws: `corrupt`, `notAllowed`.
    func unpack(_ source: String, to target: String, name: String, keys: SealKeys?, maxBytes: Int) throws {
        let input = try FileHandle(forReadingFrom: URL(filePath: source))
        defer { try? input.close() }
        let output = try Self.make(target)
        defer { try? output.close() }
        let inflation = self == .plain ? nil : try Inflation()
        var unsealing = keys.flatMap { self == .sealed ? Unsealing($0, name: name) : nil }
        guard self != .sealed || unsealing != nil else {
            throw BackupError(
                .notAllowed, "the backup is sealed: backup.key_file or backup.passphrase_file must say with what")
        }
        var written = 0
        func write(_ bytes: [UInt8]) throws {
            written += bytes.count
            guard written <= maxBytes else {
                throw BackupError(.corrupt, "\(name) is longer than the \(maxBytes) bytes that it may have")
            }
            try output.write(contentsOf: bytes)
        }
        func add(_ bytes: [UInt8]) throws {
            if let inflation { try inflation.add(bytes, write) } else { try write(bytes) }
        }
        while let piece = try input.read(upToCount: Self.pieceBytes), !piece.isEmpty {
            try add(unsealing?.add([UInt8](piece)) ?? [UInt8](piece))
        }
        if let rest = try unsealing?.finish() { try add(rest) }
        try inflation?.finish()
        try output.synchronize()
    }

    private func sealing(_ name: String, _ keys: SealKeys?, _ salt: [UInt8]) throws -> Sealing? {
        guard self == .sealed else { return nil }
        guard let keys else { throw BackupError(.badInput, "a backup is sealed with a key or a passphrase") }
        return try Sealing(keys, salt: salt, name: name)
    }

    /// Makes a file that its owner alone may read.
    static func make(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BackupError(.unavailable, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

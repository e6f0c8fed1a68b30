internal import Foundation
internal import GRDBSQLite

/// A database, its log or its journal, open: what SQLite reads and writes in it is decrypted and encrypted on the way.
///
/// SQLite uses it from one thread at a time, with the connection that it belongs to.
final class CipherFile {
    enum Kind { case database, log, journal }

    private let kind: Kind
    private let cipher: PageCipher
    private let real: UnsafeMutablePointer<sqlite3_file>
    private static let pageSize = PageCipher.pageSize

    init(_ kind: Kind, _ cipher: PageCipher, _ real: UnsafeMutablePointer<sqlite3_file>) {
        self.kind = kind
        self.cipher = cipher
        self.real = real
    }

    // MARK: Results

    private static let readFailed = SQLITE_IOERR | (1 << 8)
    /// There was less than that in the file; the rest is zeros.
    private static let shortRead = SQLITE_IOERR | (2 << 8)
    private static let writeFailed = SQLITE_IOERR | (3 << 8)
    /// Not an error of reading, which may pass.
    private static let damaged = SQLITE_CORRUPT

    // MARK: Reading

    func read(_ out: UnsafeMutableRawBufferPointer, at position: UInt64) -> Int32 {
        switch kind {
        case .database: readDatabase(out, position)
        case .log: readLog(out, position)
        case .journal: readJournal(out, position)
        }
    }

    private func readDatabase(_ out: UnsafeMutableRawBufferPointer, _ position: UInt64) -> Int32 {
        let size = UInt64(Self.pageSize)
        if position == 0, out.count == FirstPage.headerSize { return readHeader(out) }
        let (index, start) = position.quotientAndRemainder(dividingBy: size)
        guard start + UInt64(out.count) <= size, let page = UInt32(exactly: index + 1) else { return Self.readFailed }
        guard out.count < Self.pageSize else { return readPage(out, .database(page: page), at: position) }
        // SQLite looks at a few bytes to see whether somebody else has written.
        return withUnsafeTemporaryAllocation(byteCount: Self.pageSize, alignment: 8) { whole in
            let result = readPage(whole, .database(page: page), at: index * size)
            out.copyMemory(from: UnsafeRawBufferPointer(rebasing: whole[Int(start)..<Int(start) + out.count]))
            return result
        }
    }

    /// Reads a part of the database's header without a look at what is stored: SQLite reads the header before it locks the file, while somebody
    /// may be writing the page.
    private func readHeader(_ out: UnsafeMutableRawBufferPointer) -> Int32 {
        var size: sqlite3_int64 = 0
        let result = real.pointee.pMethods.pointee.xFileSize?(real, &size) ?? Self.readFailed
        guard result == SQLITE_OK else { return result }
        guard size > 0 else {
            out.initializeMemory(as: UInt8.self, repeating: 0)
            return Self.shortRead
        }
        out.copyBytes(from: FirstPage.fixedHeader)
        return SQLITE_OK
    }

    private func readPage(_ out: UnsafeMutableRawBufferPointer, _ place: PageCipher.Place, at position: UInt64) -> Int32
    {
        withUnsafeTemporaryAllocation(byteCount: Self.pageSize, alignment: 8) { stored in
            let result = readStored(stored, position)
            guard result == SQLITE_OK else {
                out.initializeMemory(as: UInt8.self, repeating: 0)
                // SQLite takes what is missing for zeros. Nothing is missing but in a file that is still empty.
                let isEmpty = position == 0 && stored.allSatisfy { $0 == 0 }
                return result == Self.shortRead && !isEmpty ? Self.damaged : result
            }
            guard cipher.open(UnsafeRawBufferPointer(stored), at: place, into: out) else {
                out.initializeMemory(as: UInt8.self, repeating: 0)
                return Self.damaged
            }
            return SQLITE_OK
        }
    }

    /// The log has a header, and then pages, each with a header of its own.
    private enum LogPart {
        /// A part of the log's header.
        case header
        /// A part of a page's header: the first byte of the part within the header, and the position of the header in the log.
        case frameHeader(start: Int, at: UInt64)
        case page
        case frame

        init?(_ position: UInt64, _ count: Int) {
            let header = 32
            let frameHeader = PageCipher.frameHeaderSize
            guard position >= header else {
                guard Int(position) + count <= header else { return nil }
                self = .header
                return
            }
            let start = Int((position - UInt64(header)) % UInt64(frameHeader + PageCipher.pageSize))
            switch (start, count) {
            case (0, frameHeader + PageCipher.pageSize): self = .frame
            case (frameHeader, PageCipher.pageSize): self = .page
            case _ where start + count <= frameHeader: self = .frameHeader(start: start, at: position - UInt64(start))
            default: return nil
            }
        }
    }

    private func readLog(_ out: UnsafeMutableRawBufferPointer, _ position: UInt64) -> Int32 {
        switch LogPart(position, out.count) {
        case .header: return readStored(out, position)
        case .page: return readPage(out, .log(position), at: position)
        case .frameHeader(let start, let position): return readFrameHeader(out, start, at: position)
        case .frame: return readFrame(out, position)
        case nil: return Self.readFailed
        }
    }

    private func readFrameHeader(_ out: UnsafeMutableRawBufferPointer, _ start: Int, at position: UInt64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: PageCipher.frameHeaderSize, alignment: 8) { header in
            let result = readStored(header, position)
            guard result == SQLITE_OK else {
                out.initializeMemory(as: UInt8.self, repeating: 0)
                return result
            }
            let opened = openFrameHeader(header, position, isWhole: true)
            out.copyMemory(from: UnsafeRawBufferPointer(rebasing: header[start..<start + out.count]))
            return opened
        }
    }

    /// Recovery reads the log to its end, which a crash may have left in any state. What was not stored so must look to SQLite like what was not
    /// written whole: its checksum must be wrong.
    private func readFrame(_ out: UnsafeMutableRawBufferPointer, _ position: UInt64) -> Int32 {
        let headerSize = PageCipher.frameHeaderSize
        let header = UnsafeMutableRawBufferPointer(rebasing: out[..<headerSize])
        let page = UnsafeMutableRawBufferPointer(rebasing: out[headerSize...])
        let result = readStored(header, position)
        guard result == SQLITE_OK else { return result }
        let start = position + UInt64(headerSize)
        let read = readPage(page, .log(start), at: start)
        guard read == SQLITE_OK || read == Self.damaged else { return read }
        return openFrameHeader(header, position, isWhole: read == SQLITE_OK)
    }

    private func openFrameHeader(_ header: UnsafeMutableRawBufferPointer, _ position: UInt64, isWhole: Bool) -> Int32 {
        var frame = Array(header)
        guard cipher.openFrameHeader(&frame, at: position) else { return Self.readFailed }
        if !isWhole { frame[frame.count - 1] ^= 0xff }
        header.copyBytes(from: frame)
        return SQLITE_OK
    }

    private func readJournal(_ out: UnsafeMutableRawBufferPointer, _ position: UInt64) -> Int32 {
        guard out.count == Self.pageSize else { return readStored(out, position) }
        return journalPlace(position).map { readPage(out, $0, at: position) } ?? Self.readFailed
    }

    /// Returns the place of a page in the journal; the page's number stands before the page.
    private func journalPlace(_ position: UInt64) -> PageCipher.Place? {
        var page: UInt32 = 0
        guard position >= 4, withUnsafeMutableBytes(of: &page, { readStored($0, position - 4) }) == SQLITE_OK else {
            return nil
        }
        return .journal(position, page: UInt32(bigEndian: page))
    }

    private func readStored(_ out: UnsafeMutableRawBufferPointer, _ position: UInt64) -> Int32 {
        real.pointee.pMethods.pointee.xRead?(real, out.baseAddress, Int32(out.count), Int64(position))
            ?? Self.readFailed
    }

    // MARK: Writing

    /// What does not have the form of a page where one belongs is refused, rather than stored as it is.
    func write(_ bytes: UnsafeRawBufferPointer, at position: UInt64) -> Int32 {
        switch kind {
        case .database:
            let (index, start) = position.quotientAndRemainder(dividingBy: UInt64(Self.pageSize))
            guard start == 0, let page = UInt32(exactly: index + 1) else { return Self.writeFailed }
            return writePage(bytes, .database(page: page), at: position)
        case .log: return writeLog(bytes, position)
        case .journal:
            guard bytes.count == Self.pageSize else {
                return bytes.count < Self.pageSize ? writeStored(bytes, position) : Self.writeFailed
            }
            return journalPlace(position).map { writePage(bytes, $0, at: position) } ?? Self.writeFailed
        }
    }

    private func writeLog(_ bytes: UnsafeRawBufferPointer, _ position: UInt64) -> Int32 {
        switch LogPart(position, bytes.count) {
        case .header: return writeStored(bytes, position)
        case .page: return writePage(bytes, .log(position), at: position)
        case .frameHeader where bytes.count == PageCipher.frameHeaderSize:
            var frame = Array(bytes)
            guard cipher.sealFrameHeader(&frame, at: position) else { return Self.writeFailed }
            return frame.withUnsafeBytes { writeStored($0, position) }
        case .frameHeader, .frame, nil: return Self.writeFailed
        }
    }

    private func writePage(_ page: UnsafeRawBufferPointer, _ place: PageCipher.Place, at position: UInt64) -> Int32 {
        guard let sealed = cipher.seal(page, at: place) else { return Self.writeFailed }
        return sealed.withUnsafeBytes { writeStored($0, position) }
    }

    private func writeStored(_ bytes: UnsafeRawBufferPointer, _ position: UInt64) -> Int32 {
        real.pointee.pMethods.pointee.xWrite?(real, bytes.baseAddress, Int32(bytes.count), Int64(position))
            ?? Self.writeFailed
    }
}

internal import CZlib
import Rules
import SyncModel

/// Reads files of a zip archive in memory. Everything in it is taken for a stranger's: sizes, names and kinds of files are bounded, and
/// what says one thing in the directory and another in its place is refused.
struct ZipArchive {
    /// No deflate stream grows by more (zlib's technical notes): a size beyond it is a lie, refused before allocating.
    private static let maxExpansion = 1032
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private struct Entry {
        var name: String
        var nameBytes: ArraySlice<UInt8>
        var method: Int
        var checksum: UInt32
        var packedSize: Int
        var size: Int
        var offset: Int
    }

    /// - Parameter wanted: which files to unpack, by their paths; the others are only looked at in the archive's directory.
    func files(wanted: (String) -> Bool) throws(ExportProblem) -> [String: [UInt8]] {
        let (start, count) = try directory()
        guard count <= ExportFiles.maxFiles else {
            throw ExportProblem("the archive has \(count) files; \(ExportFiles.maxFiles) are allowed")
        }
        var entries: [Entry] = []
        var total = 0
        var place = start
        for _ in 0..<count {
            let (found, next) = try entry(at: place, wanted)
            place = next
            guard let entry = found else { continue }
            guard entry.size <= ExportFiles.maxFileBytes else {
                throw ExportProblem(
                    "\(entry.name) has \(entry.size.counted("byte")); \(ExportFiles.maxFileBytes) are allowed")
            }
            total += entry.size
            guard total <= ExportFiles.maxBytes else {
                throw ExportProblem("the archive's files have more than \(ExportFiles.maxBytes) bytes")
            }
            entries.append(entry)
        }
        // Nothing is unpacked before it is known how much there is.
        var files: [String: [UInt8]] = [:]
        for entry in entries {
            guard files[entry.name] == nil else { throw ExportProblem("\(entry.name) stands in the archive twice") }
            files[entry.name] = try content(of: entry, before: start)
        }
        return files
    }

    // MARK: The directory

    private static let tooShort = ExportProblem("no whole zip archive: it ends too early")

    private func number(_ offset: Int, _ width: Int) throws(ExportProblem) -> Int {
        guard offset >= 0, offset <= bytes.count - width else { throw Self.tooShort }
        return bytes[offset..<(offset + width)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func slice(_ offset: Int, _ count: Int) throws(ExportProblem) -> ArraySlice<UInt8> {
        guard offset >= 0, count >= 0, offset <= bytes.count - count else { throw Self.tooShort }
        return bytes[offset..<(offset + count)]
    }

    /// Where the directory begins, and how many entries it has. It stands before the archive's last record, which may end in a comment.
    private func directory() throws(ExportProblem) -> (start: Int, count: Int) {
        let (size, maxComment) = (22, 0xffff)
        var end = bytes.count - size
        let first = max(0, end - maxComment)
        while end >= first {
            if try number(end, 4) == 0x0605_4b50, try number(end + 20, 2) == bytes.count - end - size { break }
            end -= 1
        }
        guard end >= first else { throw ExportProblem("no zip archive") }
        let (count, start) = (try number(end + 10, 2), try number(end + 16, 4))
        guard try number(end + 4, 2) == 0, try number(end + 8, 2) == count else {
            throw ExportProblem("the archive is one of several parts: put them together")
        }
        guard count != 0xffff, start != 0xffff_ffff else { throw ExportProblem("the archive is of the 64-bit form") }
        guard start <= end, try number(end + 12, 4) == end - start else { throw Self.tooShort }
        return (start, count)
    }

    /// - Returns: nil for what is not wanted, and where the next one stands.
    private func entry(
        at place: Int, _ wanted: (String) -> Bool
    ) throws(ExportProblem) -> (Entry?, next: Int) {
        guard try number(place, 4) == 0x0201_4b50 else { throw ExportProblem("the archive's directory is damaged") }
        let nameBytes = try slice(place + 46, try number(place + 28, 2))
        let next = try place + 46 + nameBytes.count + number(place + 30, 2) + number(place + 32, 2)
        // What is no UTF-8 must not be passed over where it would count.
        let name = String(decoding: nameBytes, as: UTF8.self)
        try check(name, made: try number(place + 4, 2), attributes: try number(place + 38, 4))
        guard wanted(name) else { return (nil, next) }
        guard name.utf8.elementsEqual(nameBytes) else { throw ExportProblem("\(name): the name is no UTF-8") }
        guard try number(place + 8, 2) & 1 == 0 else { throw ExportProblem("\(name) is encrypted") }
        let entry = Entry(
            name: name, nameBytes: nameBytes, method: try number(place + 10, 2),
            checksum: UInt32(truncatingIfNeeded: try number(place + 16, 4)), packedSize: try number(place + 20, 4),
            size: try number(place + 24, 4), offset: try number(place + 42, 4))
        return (entry, next)
    }

    /// Refuses names that lead elsewhere, and what is neither a file nor a folder.
    private func check(_ name: String, made: Int, attributes: Int) throws(ExportProblem) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = !name.isEmpty && !name.hasPrefix("/") && !parts.contains("..") && !parts.contains(".")
        guard isPlain, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\\") }) else {
            throw ExportProblem(
                "the archive has a file called \(String(reflecting: String(name.prefix(80)))), which is no path inside it"
            )
        }
        // Made on Unix: the file's kind stands in the upper half.
        let kind = made >> 8 == 3 ? attributes >> 16 & 0xf000 : 0
        guard [0, 0x8000, 0x4000].contains(kind) else {
            throw ExportProblem("\(name.prefix(200)) is a link or no plain file: pack the files themselves")
        }
    }

    // MARK: Contents

    private func content(of entry: Entry, before directory: Int) throws(ExportProblem) -> [UInt8] {
        let damaged = ExportProblem("\(entry.name) is damaged in the archive")
        let nameSize = try number(entry.offset + 26, 2)
        let start = try entry.offset + 30 + nameSize + number(entry.offset + 28, 2)
        guard try number(entry.offset, 4) == 0x0403_4b50, try slice(entry.offset + 30, nameSize) == entry.nameBytes,
            start <= directory - entry.packedSize
        else { throw damaged }
        let packed = try slice(start, entry.packedSize)
        let plain: [UInt8]
        switch entry.method {
        case 0: plain = Array(packed)
        case 8:
            guard entry.size / Self.maxExpansion <= entry.packedSize,
                let inflated = Self.inflate(packed, to: entry.size)
            else {
                throw damaged
            }
            plain = inflated
        default: throw ExportProblem("\(entry.name) is packed by method \(entry.method), which is not known here")
        }
        guard plain.count == entry.size, Self.checksum(of: plain) == entry.checksum else { throw damaged }
        return plain
    }

    /// Nil unless it is one whole stream of so many bytes.
    private static func inflate(_ packed: ArraySlice<UInt8>, to size: Int) -> [UInt8]? {
        guard let available = UInt32(exactly: packed.count), let room = UInt32(exactly: size) else { return nil }
        var stream = z_stream()
        // Without a header, as zip has it.
        guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var status = Z_OK
        // One byte of room at least: an empty result, too, needs a place to point to.
        let plain = [UInt8](unsafeUninitializedCapacity: max(1, size)) { output, count in
            packed.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = available
                stream.next_out = output.baseAddress
                stream.avail_out = room
                status = CZlib.inflate(&stream, Z_FINISH)
                count = Int(room - stream.avail_out)
            }
        }
        return status == Z_STREAM_END && stream.avail_in == 0 ? plain : nil
    }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32(0, $0.baseAddress, UInt32($0.count))) }
    }
}

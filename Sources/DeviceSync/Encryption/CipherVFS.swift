internal import Foundation
internal import GRDBSQLite

/// A VFS of SQLite's that encrypts: the default one, but for what is in the files.
///
/// SQLite calls it through tables of C functions. The pointers in here are set before it is registered, and never after that.
struct CipherVFS: @unchecked Sendable {
    /// SQLite knows it once this is known.
    let name = "sluice-encrypted"
    /// The parameter of a database's name that says which cipher the database has.
    static let parameter = "cipher"
    static let shared = CipherVFS()

    /// Whether SQLite has taken it, and knows names that choose a VFS.
    let isUsable: Bool
    private let base: UnsafeMutablePointer<sqlite3_vfs>?
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>

    private init() {
        base = sqlite3_vfs_find(nil)
        methods = .allocate(capacity: 1)
        methods.initialize(to: CipherFile.methods())
        guard let base else {
            isUsable = false
            return
        }
        var vfs = base.pointee
        vfs.pNext = nil
        vfs.zName = UnsafePointer(strdup(name))
        vfs.szOsFile += Int32(CipherFile.Slot.size)
        vfs.xOpen = { _, name, slot, flags, outFlags in
            guard let slot else { return SQLITE_MISUSE }
            slot.pointee.pMethods = nil
            return CipherVFS.shared.open(name, CipherFile.Slot(slot), flags, outFlags)
        }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: vfs)
        isUsable = sqlite3_compileoption_used("USE_URI") != 0 && sqlite3_vfs_register(own, 0) == SQLITE_OK
    }

    /// Opens a database, its log or its journal. Anything else would be a file with parts of the contents that nothing encrypts: there is none,
    /// since connections keep such things in memory.
    private func open(
        _ name: UnsafePointer<CChar>?, _ slot: CipherFile.Slot, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let kind: CipherFile.Kind
        switch flags {
        case _ where flags & SQLITE_OPEN_MAIN_DB != 0: kind = .database
        case _ where flags & SQLITE_OPEN_WAL != 0: kind = .log
        case _ where flags & SQLITE_OPEN_MAIN_JOURNAL != 0: kind = .journal
        default: return SQLITE_CANTOPEN
        }
        guard let base, let cipher = FileEncryption.cipher(sqlite3_uri_int64(name, Self.parameter, 0)) else {
            return SQLITE_CANTOPEN
        }
        let result = base.pointee.xOpen?(base, name, slot.real, flags, outFlags) ?? SQLITE_CANTOPEN
        guard result == SQLITE_OK else {
            // Some VFS wants to be told to close what it did not open.
            if let methods = slot.real.pointee.pMethods { _ = methods.pointee.xClose?(slot.real) }
            return result
        }
        slot.fill(CipherFile(kind, cipher, slot.real), methods)
        return SQLITE_OK
    }

    /// What a file begins with; empty if it cannot be read, which whoever opens it hears of.
    ///
    /// Read through SQLite: whoever closes a file by itself takes away the locks that SQLite has on it in this process.
    func start(of file: URL) -> [UInt8] {
        guard FileManager.default.fileExists(atPath: file.path), let base,
            let name = sqlite3_create_filename(file.path, "", "", 0, nil)
        else { return [] }
        defer { sqlite3_free_filename(name) }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(base.pointee.szOsFile), alignment: 16)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(base.pointee.szOsFile))
        let opened = memory.assumingMemoryBound(to: sqlite3_file.self)
        let result = base.pointee.xOpen?(base, name, opened, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY, nil)
        guard let methods = opened.pointee.pMethods else { return [] }
        defer { _ = methods.pointee.xClose?(opened) }
        var start = [UInt8](repeating: 0, count: EncryptedHeader.length)
        var size: sqlite3_int64 = 0
        guard result == SQLITE_OK, methods.pointee.xFileSize?(opened, &size) == SQLITE_OK,
            methods.pointee.xRead?(opened, &start, Int32(min(size, Int64(start.count))), 0) == SQLITE_OK
        else { return [] }
        return Array(start.prefix(Int(min(size, Int64(start.count)))))
    }
}

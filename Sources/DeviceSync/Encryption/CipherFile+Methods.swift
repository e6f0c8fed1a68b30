internal import GRDBSQLite

extension CipherFile {
    /// The memory that SQLite gives an open file: what SQLite wants to find there, a reference to our object, and the file of the VFS behind it.
    struct Slot {
        /// The bytes that precede the file of the VFS behind; a multiple of what any type may want to be aligned to.
        static let size = 16

        private let file: UnsafeMutablePointer<sqlite3_file>

        init(_ file: UnsafeMutablePointer<sqlite3_file>) { self.file = file }

        var real: UnsafeMutablePointer<sqlite3_file> {
            (UnsafeMutableRawPointer(file) + Self.size).assumingMemoryBound(to: sqlite3_file.self)
        }

        private var reference: UnsafeMutablePointer<UnsafeMutableRawPointer> {
            (UnsafeMutableRawPointer(file) + Self.size / 2).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
        }

        /// Stores the object and the methods in the slot. Without the methods, SQLite takes the file for one that was not opened.
        func fill(_ object: CipherFile, _ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
            reference.initialize(to: Unmanaged.passRetained(object).toOpaque())
            file.pointee.pMethods = UnsafePointer(methods)
        }

        var object: CipherFile { Unmanaged<CipherFile>.fromOpaque(reference.pointee).takeUnretainedValue() }

        func empty() { Unmanaged<CipherFile>.fromOpaque(reference.pointee).release() }

        /// Calls the VFS behind.
        static func forward(
            _ file: UnsafeMutablePointer<sqlite3_file>?,
            _ call: (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods) -> Int32?
        ) -> Int32 {
            guard let real = file.map({ Slot($0).real }), let methods = real.pointee.pMethods else {
                return SQLITE_MISUSE
            }
            return call(real, methods.pointee) ?? SQLITE_IOERR
        }
    }

    /// The table by which SQLite uses open files. Its version has shared memory for the log's index, and no mapping of files to memory: what is
    /// mapped cannot be decrypted on the way.
    static func methods() -> sqlite3_io_methods {
        var table = sqlite3_io_methods()
        table.iVersion = 2
        table.xClose = { file in
            guard let file else { return SQLITE_MISUSE }
            defer { Slot(file).empty() }
            return Slot.forward(file) { $1.xClose?($0) }
        }
        table.xRead = { file, out, count, position in
            guard let file, let out, count >= 0, position >= 0 else { return SQLITE_MISUSE }
            return Slot(file).object.read(
                UnsafeMutableRawBufferPointer(start: out, count: Int(count)), at: UInt64(position))
        }
        table.xWrite = { file, bytes, count, position in
            guard let file, let bytes, count >= 0, position >= 0 else { return SQLITE_MISUSE }
            return Slot(file).object.write(
                UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: UInt64(position))
        }
        table.xTruncate = { file, size in Slot.forward(file) { $1.xTruncate?($0, size) } }
        table.xSync = { file, flags in Slot.forward(file) { $1.xSync?($0, flags) } }
        table.xFileSize = { file, size in Slot.forward(file) { $1.xFileSize?($0, size) } }
        table.xLock = { file, level in Slot.forward(file) { $1.xLock?($0, level) } }
        table.xUnlock = { file, level in Slot.forward(file) { $1.xUnlock?($0, level) } }
        table.xCheckReservedLock = { file, result in Slot.forward(file) { $1.xCheckReservedLock?($0, result) } }
        table.xFileControl = { file, operation, argument in
            Slot.forward(file) { $1.xFileControl?($0, operation, argument) }
        }
        table.xSectorSize = { file in Slot.forward(file) { $1.xSectorSize?($0) } }
        table.xDeviceCharacteristics = { file in
            // Several pages at once would pass by in another way.
            Slot.forward(file) { $1.xDeviceCharacteristics?($0) } & ~SQLITE_IOCAP_BATCH_ATOMIC
        }
        table.xShmMap = { file, region, size, extend, out in
            Slot.forward(file) { $1.xShmMap?($0, region, size, extend, out) }
        }
        table.xShmLock = { file, offset, count, flags in Slot.forward(file) { $1.xShmLock?($0, offset, count, flags) } }
        table.xShmBarrier = { file in
            _ = Slot.forward(file) {
                $1.xShmBarrier?($0)
                return SQLITE_OK
            }
        }
        table.xShmUnmap = { file, deletes in Slot.forward(file) { $1.xShmUnmap?($0, deletes) } }
        return table
    }
}

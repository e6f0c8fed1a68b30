import Dispatch
import Glibc
import Synchronization

/// Keeps the bodies of deliveries that wait for their consumers in a file, once those in memory have a number of bytes.
///
/// A broker counts what it sends ahead in messages, whatever their size. So a consumer that is slow, or whose messages are large,
/// would hold as much memory as somebody wants it to. Several consumers share one spool, and so one bound. The file has no
/// name: it goes with the process. Where nothing can be written to it, bodies stay in memory.
public final class AMQPSpool: Sendable {
    /// A body's place in the file.
    struct Place: Sendable, Equatable {
        var offset: Int
        var count: Int
    }

    private struct State {
        /// Bytes of bodies in memory.
        var held = 0
        /// The places of bodies in the file, in the order of their offsets.
        var places: [Place] = []
        var file: Int32?
        var failures = 0
    }

    /// Smaller bodies stay in memory: as many as a consumer may hold are not much.
    static let minBodyBytes = 4 << 10
    private let folder: String
    private let maxHeldBytes: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "sluice.amqp.spool")

    /// - Parameters:
    ///   - folder: where the file is made when it is needed first; its disk must not be memory.
    ///   - maxHeldBytes: the bytes of bodies that stay in memory.
    public init(folder: String, maxHeldBytes: Int) {
        self.folder = folder
        self.maxHeldBytes = maxHeldBytes
    }

    deinit {
        if let file = state.withLock({ $0.file }) { close(file) }
    }

    /// Bytes of bodies that wait in memory, and in the file; and how often a body could not be written.
    public var statistics: (held: Int, spooled: Int, failures: Int) {
        state.withLock { ($0.held, $0.places.reduce(0) { $0 + $1.count }, $0.failures) }
    }

    /// Called by the connections' threads.
    ///
    /// - Returns: where the body is now; nil: it stays in memory, and counts until `released`.
    func take(_ body: [UInt8]) -> Place? {
        let reserved = state.withLock { state -> (place: Place, file: Int32)? in
            guard body.count >= Self.minBodyBytes, state.held + body.count > maxHeldBytes,
                let file = opened(&state)
            else {
                state.held += body.count
                return nil
            }
            let (place, index) = Self.room(for: body.count, among: state.places)
            state.places.insert(place, at: index)
            return (place, file)
        }
        // Written without the lock: consumers' tasks take it, too.
        guard let (place, file) = reserved else { return nil }
        if Self.write(body, to: file, at: place.offset) { return place }
        free(place)
        state.withLock { state in
            state.failures += 1
            state.held += body.count
        }
        return nil
    }

    /// A body in memory has been taken by its consumer, or dropped.
    func released(_ bytes: Int) { state.withLock { $0.held -= bytes } }

    /// A body in the file is not needed any more.
    func free(_ place: Place) {
        state.withLock { state in
            if let index = state.places.firstIndex(of: place) { state.places.remove(at: index) }
            // What was large once gives its disk back.
            if state.places.isEmpty, let file = state.file { ftruncate(file, 0) }
        }
    }

    /// - Throws: `connectionLost` if the file cannot be read: the broker has the message still, and delivers it again.
    func read(_ place: Place) async throws(AMQPError) -> [UInt8] {
        guard let file = state.withLock({ $0.file }) else { throw Self.unreadable }
        let bytes = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Self.read(place, from: file)) }
        }
        guard let bytes else { throw Self.unreadable }
        return bytes
    }

    private static var unreadable: AMQPError {
        AMQPError(.connectionLost, "a delivery's body cannot be read back from the spool file")
    }

    // MARK: The file

    private func opened(_ state: inout State) -> Int32? {
        if let file = state.file { return file }
        var path = Array("\(folder)/sluice-spool-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else {
            state.failures += 1
            return nil
        }
        unlink(path)
        state.file = file
        return file
    }

    /// The first gap that is large enough, and where it belongs among the places.
    static func room(for count: Int, among places: [Place]) -> (Place, Int) {
        var end = 0
        for (index, place) in places.enumerated() {
            if place.offset - end >= count { return (Place(offset: end, count: count), index) }
            end = place.offset + place.count
        }
        return (Place(offset: end, count: count), places.count)
    }

    private static func write(_ body: [UInt8], to file: Int32, at offset: Int) -> Bool {
        body.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let written = pwrite(file, buffer.baseAddress.map { $0 + done }, buffer.count - done, offset + done)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }

    private static func read(_ place: Place, from file: Int32) -> [UInt8]? {
        var done = 0
        var isShort = false
        let bytes = [UInt8](unsafeUninitializedCapacity: place.count) { buffer, count in
            while done < place.count {
                let got = pread(file, buffer.baseAddress.map { $0 + done }, place.count - done, place.offset + done)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else {
                    isShort = true
                    break
                }
                done += got
            }
            count = done
        }
        return isShort ? nil : bytes
    }
}

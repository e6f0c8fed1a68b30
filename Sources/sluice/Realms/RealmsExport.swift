import ArgumentParser
import Foundation
import Inspection
import Operations
import SyncModel

struct RealmsExport: ClusterCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a realm's objects, or its history, as lines of JSON.",
        discussion: """
            The first line names the realm and its version. Then follow one line a class ("schema") and one line an \
            object ("class", "object") as MongoDB extended JSON; or, with --history, one line a version with its \
            changeset in hexadecimal digits, as `sluice publish changeset --hex` and `conformance` take it. Users' \
            data, all of it.
            """)
    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var realm: RealmOptions
    @Flag(help: "The history instead of the objects.") var history = false
    @Option(name: [.short, .long], help: "A file to write, which must not exist; standard output if left out.")
    var output: String?

    func run(_ settings: ClusterSettings) async throws {
        let reader = try await StoredRealms(settings).reader(of: realm.name)
        let writer = try LineWriter(file: output)
        let export = RealmExport(reader: reader, name: realm.name)
        do {
            let count =
                history
                ? try await export.history(to: { try writer.write($0) })
                : try await export.state(to: { try writer.write($0) })
            try writer.finish()
            if output != nil {
                Printing.note(history ? count.versions.counted("version") : count.objects.counted("object"))
            }
        } catch let error as InspectionError where error.code == .notFound {
            writer.remove()
            throw error
        }
    }
}

/// Writes lines to a new file that only its owner can read, or to standard output, some at a time.
final class LineWriter {
    private static let chunk = 256 << 10
    private let handle: FileHandle
    private let file: String?
    private let isTerminal: Bool
    private var buffer = Data()

    init(file: String?) throws {
        self.file = file
        isTerminal = file == nil && isatty(STDOUT_FILENO) == 1
        guard let file else {
            handle = .standardOutput
            return
        }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.badInput, "cannot create \(file): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ line: String) throws {
        buffer.append(contentsOf: (isTerminal ? line.forTerminals : line).utf8)
        buffer.append(0x0a)
        if buffer.count >= Self.chunk { try flush() }
    }

    func finish() throws {
        try flush()
        if file != nil { try handle.synchronize() }
    }

    func remove() {
        if let file { unlink(file) }
    }

    private func flush() throws {
        do {
            try handle.write(contentsOf: buffer)
        } catch {
            // The reader may have gone (`| head`).
            if file == nil { Program.end(ExitCode(141)) }
            throw error
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

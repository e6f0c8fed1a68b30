import Foundation

/// How far an import is, in a file beside it, so that one that broke off goes on where it was.
struct ImportProgress: Codable {
    /// A file of the import.
    struct Source: Codable {
        /// Tells the file from the import's others.
        var number: Int
        /// How many documents of the file are dealt with.
        var done = 0
    }

    /// Where the documents go, for people: an import into something else begins with their first.
    let target: String
    /// Names the import's writes: a batch that was written before its answer was heard is not written twice.
    var run = UUID().uuidString.lowercased()
    private var sources: [String: Source] = [:]
    var written = 0
    var rejected = 0

    init(target: String) { self.target = target }

    /// What is known of a file.
    subscript(_ path: String) -> Source {
        get { sources[path] ?? Source(number: sources.count) }
        set { sources[path] = newValue }
    }

    /// What a file says of an import; a new import if there is no such file.
    static func read(_ path: String, target: String) throws -> ImportProgress {
        guard FileManager.default.fileExists(atPath: path) else { return ImportProgress(target: target) }
        let progress: ImportProgress
        do {
            progress = try JSONDecoder().decode(
                ImportProgress.self, from: try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw CommandFailure(
                .badInput, "--resume: \(path) is not what an import has left there; remove it to begin anew")
        }
        guard progress.target == target else {
            throw CommandFailure(
                .badInput,
                "--resume: \(path) is of an import into \(progress.target), and this one goes into \(target): name another file"
            )
        }
        return progress
    }

    func write(_ path: String) throws {
        do {
            try JSONEncoder().encode(self).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.badInput, "--resume: cannot write \(path): \(error.localizedDescription)")
        }
    }
}

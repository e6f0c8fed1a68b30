import Foundation

/// How far an import is, in a file beside it, so that one that broke off goes on where it was.
struct ImportProgress: Codable {
    /// Names the import's writes: a batch that was written before its answer was heard is not written twice.
    var run = UUID().uuidString.lowercased()
    /// How many documents of each file are dealt with.
    var done: [String: Int] = [:]
    var written = 0
    var rejected = 0

    /// What the file says; a new import if there is none.
    static func read(_ path: String) throws -> ImportProgress {
        guard FileManager.default.fileExists(atPath: path) else { return ImportProgress() }
        do {
            return try JSONDecoder().decode(
                ImportProgress.self, from: try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw CommandFailure(
                .badInput, "--resume: \(path) is not what an import has left there; remove it to begin anew")
        }
    }

    func write(_ path: String) throws {
        do {
            try JSONEncoder().encode(self).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.badInput, "--resume: cannot write \(path): \(error.localizedDescription)")
        }
    }
}

import Foundation
import MergeConformance
import Testing

/// What the fuzzers have found to be of interest is run again and again, with the same functions.
@Suite(.timeLimit(.minutes(5))) struct FuzzCorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/corpus")

    @Test(arguments: FuzzTarget.allCases)
    func everyKeptInputKeepsTheLaws(target: FuzzTarget) throws {
        let folder = Self.folder.appending(path: target.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        #expect(names.count > 10)
        for name in names.sorted() {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue)/\(name): \(error)")
            }
        }
    }

    /// The corpus is worth what it reaches: edits that say nothing would converge, too.
    @Test func theScriptsEditAndMerge() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let bytes = (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
            do {
                try FuzzTarget.converge.run(bytes)
            } catch {
                Issue.record("\(bytes): \(error)")
            }
        }
    }
}

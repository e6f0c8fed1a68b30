package import Changesets

/// The instructions of several changesets on end, comparable with any other such list: each instruction has its own
/// bytes, in which nothing depends on the changeset's table of strings.
package struct InstructionList: Sendable {
    package struct Entry: Sendable {
        package let text: String
        let bytes: [UInt8]
    }

    package private(set) var entries: [Entry] = []

    package init(_ changesets: [Changeset]) {
        for changeset in changesets {
            let text = InstructionText(changeset.strings)
            for instruction in changeset.instructions {
                var encoder = StreamingEncoder()
                // A string that the table does not have: the text alone has to tell them apart.
                let isComplete = (try? encoder.append(instruction, from: changeset.strings)) != nil
                let words = text.text(instruction)
                entries.append(Entry(text: words, bytes: isComplete ? encoder.bytes : Array(words.utf8)))
            }
        }
    }

    /// What recorded bytes say; if they are no changesets, the one line that says so.
    package init(recorded bytes: [UInt8]) {
        do throws(ChangesetError) {
            var changesets: [Changeset] = []
            for part in try ConcatenatedChangesets.split(bytes) { changesets.append(try Changeset(parsing: part)) }
            self.init(changesets)
        } catch {
            self.init(words: "not a changeset: \(error)")
        }
    }

    /// A list that equals no other: why there is none.
    package init(words: String) { entries = [Entry(text: words, bytes: [])] }
}

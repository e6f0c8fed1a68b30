import Changesets
import MergeConformance
import TestSupport
import Testing

@Suite struct InstructionComparisonTests {
    private func changeset(_ names: ByteString..., unused: ByteString? = nil) -> Changeset {
        var changeset = Changeset()
        if let unused { _ = changeset.strings.intern(unused) }
        changeset.instructions = names.map { .eraseTable(table: changeset.strings.intern($0)) }
        return changeset
    }

    private func compare(_ expected: Changeset, _ ours: Changeset) -> InstructionComparison {
        InstructionComparison(expected: InstructionList([expected]), ours: InstructionList([ours]))
    }

    @Test func numbersOfStringsMakeNoDifference() {
        expectTrue(compare(changeset("A", "B"), changeset("A", "B", unused: "C")).firstDifference == nil)
    }

    /// Canonically equivalent, but other bytes.
    @Test func bytesOfStringsMakeADifference() {
        expectEqual(compare(changeset("\u{E9}"), changeset("e\u{301}")).firstDifference, 0)
    }

    @Test func oneListMayEndBeforeTheOther() {
        expectEqual(compare(changeset("A", "B"), changeset("A")).firstDifference, 1)
        expectEqual(compare(changeset("A"), changeset("A", "B", "C")).firstDifference, 1)
    }

    @Test func columnsAreAlignedAndTheFirstDifferenceIsMarked() {
        let lines = compare(changeset("A", "Longer", "C"), changeset("A", "B", "D")).lines
        expectEqual(
            lines,
            [
                "    expected          | ours",
                "  1 EraseTable A      | EraseTable A",
                "> 2 EraseTable Longer | EraseTable B",
                "  3 EraseTable C      | EraseTable D",
            ])
    }

    @Test func aLongListIsShownAroundTheDifference() {
        let names = (0..<40).map { ByteString("T\($0)") }
        var expected = Changeset()
        expected.instructions = names.map { .eraseTable(table: expected.strings.intern($0)) }
        var ours = expected
        ours.instructions.remove(at: 20)
        let lines = compare(expected, ours).lines
        expectEqual(lines.count, 20)
        expectTrue(lines.contains { $0.contains("(12 equal before)") })
        expectTrue(lines.contains { $0.hasPrefix("> 21 EraseTable T20") })
        expectTrue(lines.contains { $0.contains("(11 more)") })
    }

    @Test func instructionsCutInAColumnStandBelowInFull() {
        let name = String(repeating: "x", count: 100)
        let lines = compare(changeset(ByteString(name + "1")), changeset(ByteString(name + "2"))).lines
        expectTrue(lines.contains("  expected: EraseTable \(name)1"))
        expectTrue(lines.contains("  ours: EraseTable \(name)2"))
    }
}

/// The ordered instructions of one committed write, with the strings that they name by number.
package struct Changeset: Sendable, Equatable {
    package var strings: InternTable
    package var instructions: [Instruction]

    package init(strings: InternTable = InternTable(), instructions: [Instruction] = []) {
        self.strings = strings
        self.instructions = instructions
    }

    package var isEmpty: Bool { instructions.isEmpty }
}

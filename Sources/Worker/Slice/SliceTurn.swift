/// What an owner has done in one turn.
package struct SliceTurn: Sendable {
    /// The messages to be published before the messages that were dealt with are acknowledged.
    package var publications: [Publication] = []
    /// The indices of the messages that have to wait for a later turn, ascending.
    package var left: [Int] = []
    /// What the messages have held up the slice for, in steps of merging, as far as that is counted.
    package var steps: UInt64 = 0
    /// Whether no message's turn has come.
    package var isIdle = false
}

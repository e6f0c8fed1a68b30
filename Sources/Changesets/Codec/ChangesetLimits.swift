/// The bounds of what a changeset may ask for. The format's own limits (docs/changesets.md, "Limits") hold whatever stands here.
package struct ChangesetLimits: Hashable, Sendable {
    /// An instruction takes up to a hundred times more memory than its bytes, so their number is bounded apart.
    package var maxInstructions: Int
    package var maxBytes: Int
    /// Elements of one path: 100 levels of collections in a mixed value, and room for embedded objects.
    package var maxPathElements: Int

    package init(maxBytes: Int, maxInstructions: Int, maxPathElements: Int) {
        self.maxBytes = maxBytes
        self.maxInstructions = maxInstructions
        self.maxPathElements = maxPathElements
    }

    package static let `default` = ChangesetLimits(
        maxBytes: 64 << 20, maxInstructions: 4_000_000, maxPathElements: 256)

    /// The longest interned string or string payload, in bytes.
    package static let maxStringBytes = 0xFF_FFEF
    package static let maxBinaryBytes = 0xFF_FFF0
    package static let maxClassNameBytes = 57
    package static let maxFieldNameBytes = 63
    /// Levels of collections inside a mixed value.
    package static let maxNesting = 100
    /// Number of the file half of a global key.
    package static let maxGlobalKeyFile: UInt64 = 0x3FFF_FFFF
}

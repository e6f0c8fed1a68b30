import TestSupport
import Testing

@testable import Operations

@Suite struct FreedMemoryTests {
    /// The C library keeps blocks that lie between others that stay, if they are below the size from which blocks are
    /// the system's own.
    @Test func freedMemoryBetweenUsedBlocksIsReturned() async {
        let blocks = (0..<1_000).map { _ in UnsafeMutableRawPointer.allocate(byteCount: 64 << 10, alignment: 16) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 1, count: 64 << 10) }
        for index in stride(from: 0, to: blocks.count, by: 2) { blocks[index].deallocate() }
        await expectTrue(FreedMemory().giveBack())
        for index in stride(from: 1, to: blocks.count, by: 2) { blocks[index].deallocate() }
    }
}

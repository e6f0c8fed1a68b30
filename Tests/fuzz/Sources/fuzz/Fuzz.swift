import CFuzzer
import MergeConformance

/// `fuzz TARGET [libFuzzer's options and folders]`: feeds one target of the engine.
@main
enum Fuzz {
    /// Set before the first input, and never again.
    nonisolated(unsafe) private static var target = FuzzTarget.changeset

    static func main() {
        guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            print("usage: fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [options] [folders]")
            return
        }
        self.target = target
        // libFuzzer keeps pointers into its arguments, so these are never freed.
        let arguments = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
        let storage = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        for (position, argument) in arguments.enumerated() {
            let bytes = argument.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (offset, byte) in bytes.enumerated() { copy[offset] = byte }
            storage[position] = copy
        }
        storage[arguments.count] = nil
        var count = Int32(arguments.count)
        var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = storage
        _ = LLVMFuzzerRunDriver(&count, &pointer) { data, size in Fuzz.feed(data, size) }
    }

    private static func feed(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
        do throws(BrokenLaw) {
            try target.run(Array(UnsafeBufferPointer(start: data, count: size)))
        } catch {
            // A trap is what the fuzzer notices, and keeps the input for.
            fatalError("broken law: \(error)")
        }
        return 0
    }
}

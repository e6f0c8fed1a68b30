import FuzzedInput
import MergeConformance

private let target: FuzzTarget = fuzzedTarget()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func feed(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    InputBudget.held {
        do throws(BrokenLaw) {
            try target.run(Array(UnsafeBufferPointer(start: data, count: size)))
        } catch {
            fatalError("broken law: \(error)")
        }
    }
    return 0
}

import BoundaryFuzzing
import Dispatch
import FuzzedInput
import MergeConformance

private let target: BoundaryTarget = fuzzedTarget()

/// What libFuzzer calls with each input. It waits on the fuzzer's own thread, which is none of the cooperative ones.
@_cdecl("LLVMFuzzerTestOneInput")
public func feed(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    InputBudget.held {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do throws(BrokenLaw) {
                try await target.run(bytes)
            } catch {
                fatalError("broken law: \(error)")
            }
            done.signal()
        }
        done.wait()
    }
    return 0
}

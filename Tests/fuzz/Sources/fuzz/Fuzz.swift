import Glibc
import MergeConformance

/// Which part of the engine is fed: `FUZZ_TARGET`. libFuzzer has the main function, and all arguments are its own.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("FUZZ_TARGET: expected one of \(names), found '\(name)'")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func feed(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    do throws(BrokenLaw) {
        try target.run(Array(UnsafeBufferPointer(start: data, count: size)))
    } catch {
        // A trap is what the fuzzer notices, and keeps the input for.
        fatalError("broken law: \(error)")
    }
    return 0
}

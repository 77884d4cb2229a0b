/// What libFuzzer calls with each input. Which target it is was decided when it was compiled; see run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    #if FUZZ_REQUEST
        let broken = WireProperties.brokenRequest(bytes)
    #elseif FUZZ_REPLY
        let broken = WireProperties.brokenReply(bytes)
    #elseif FUZZ_JSON
        let broken = FormatProperties.brokenJSON(bytes)
    #elseif FUZZ_ARCHIVE
        let broken = FormatProperties.brokenArchive(bytes)
    #else
        let broken = WireProperties.brokenFrames(bytes)
    #endif
    if let broken { preconditionFailure(broken) }
    return 0
}

internal import Foundation
internal import TokenModel

/// libFuzzer calls this function with each input. The target is selected when the function is compiled; see run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    #if FUZZ_REQUEST
        let broken = WireProperties.brokenRequest(bytes)
    #elseif FUZZ_REPLY
        let broken = WireProperties.brokenReply(bytes)
    #elseif FUZZ_JSON
        let broken = JSONProperties.broken(bytes)
    #elseif FUZZ_TEXT
        let broken = TextProperties.broken(bytes)
    #elseif FUZZ_RECORDS
        let broken = RecordProperties.broken(bytes)
    #elseif FUZZ_ADAL_ARCHIVE
        let broken = FormatProperties.brokenImport(bytes, .adalArchive)
    #elseif FUZZ_ADAL_JSON
        let broken = FormatProperties.brokenImport(bytes, .adalJSON)
    #elseif FUZZ_MSAL_JSON
        let broken = FormatProperties.brokenImport(bytes, .msalJSON)
    #elseif FUZZ_RESPONSE
        let broken = ResponseProperties.broken(bytes)
    #elseif FUZZ_STORE_IMAGE
        let broken = StoreImageProperties.broken(bytes)
    #elseif FUZZ_TOML
        let broken = TOMLProperties.broken(bytes)
    #elseif FUZZ_AUDIT
        let broken = AuditProperties.broken(bytes)
    #elseif FUZZ_PEERS
        let broken = PeerTextProperties.broken(bytes)
    #else
        let broken = WireProperties.brokenFrames(bytes)
    #endif
    if let broken {
        // Optimised code does not say why a precondition fails.
        FileHandle.standardError.write(Data("\(broken)\n".utf8))
        preconditionFailure(broken)
    }
    return 0
}

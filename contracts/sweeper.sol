// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// What a deposit address delegates to (EIP-7702). It obeys the sweeper alone, moves tokens alone, and to one address alone. It takes
/// native coins and leaves them where they are: the key of the account moves those, and takes the delegation back.
contract Delegate {
    address private immutable sweeper;
    address private immutable destination;

    constructor(address destination_) {
        sweeper = msg.sender;
        destination = destination_;
    }

    receive() external payable {}

    function move(address token, uint256 amount) external {
        require(msg.sender == sweeper);
        address to = destination;
        assembly ("memory-safe") {
            let call_ := mload(0x40)
            mstore(call_, shl(224, 0xa9059cbb)) // transfer(address,uint256)
            mstore(add(call_, 4), to)
            mstore(add(call_, 36), amount)
            mstore(0, 0)
            let done := call(gas(), token, 0, call_, 68, 0, 32)
            // A token is code that answers true, or nothing at all, as USDT does.
            let answered := or(eq(mload(0), 1), iszero(returndatasize()))
            if iszero(and(and(done, answered), gt(extcodesize(token), 0))) {
                revert(0, 0)
            }
        }
    }
}

/// Moves the tokens of many deposit addresses at once. One operator may call it, and it makes one delegate per destination.
contract Sweeper {
    address public immutable operator;

    constructor(address operator_) {
        operator = operator_;
    }

    /// `items`: an account in the upper 160 bits, an amount in the lower 96. All move, or none.
    function sweep(address token, address destination, uint256[] calldata items) external {
        require(msg.sender == operator);
        if (delegateOf(destination).code.length == 0) new Delegate{salt: 0}(destination);
        for (uint256 i = 0; i < items.length; i++) {
            // Of an account without code this call fails: nothing is taken for moved that was not.
            Delegate(payable(address(uint160(items[i] >> 96)))).move(token, uint96(items[i]));
        }
    }

    /// Where the delegate of a destination is, or will be.
    function delegateOf(address destination) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Delegate).creationCode, abi.encode(destination)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}

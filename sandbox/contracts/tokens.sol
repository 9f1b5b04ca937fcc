// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A plain six-decimals token that answers true, as USDC does. All of it belongs to who deploys it.
contract DollarToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint256 supply) {
        name = name_;
        symbol = symbol_;
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function move(address from, address to, uint256 value) internal virtual {
        require(balanceOf[from] >= value, "balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }
}

/// Answers nothing to a transfer, as USDT does on the main network.
contract SilentToken is DollarToken {
    constructor(string memory name_, string memory symbol_, uint256 supply) DollarToken(name_, symbol_, supply) {}

    function transfer(address to, uint256 value) external override returns (bool) {
        move(msg.sender, to, value);
        assembly {
            return(0, 0)
        }
    }
}

/// States the whole value and delivers a tenth less.
contract FeeToken is DollarToken {
    constructor(string memory name_, string memory symbol_, uint256 supply) DollarToken(name_, symbol_, supply) {}

    function move(address from, address to, uint256 value) internal override {
        require(balanceOf[from] >= value, "balance");
        balanceOf[from] -= value;
        balanceOf[to] += value - value / 10;
        emit Transfer(from, to, value);
    }
}

/// Says that it moved, and moves nothing.
contract LyingToken {
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Sends on what it is sent, as exchanges and smart wallets do; or takes it all back.
contract Forwarder {
    function forward(address payable to) external payable {
        (bool done, ) = to.call{value: msg.value}("");
        require(done, "refused");
    }

    function pretend(address payable to) external payable {
        (bool done, ) = to.call{value: msg.value}("");
        require(!done, "as if nothing had been");
    }
}
